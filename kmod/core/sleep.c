// SPDX-License-Identifier: GPL-2.0-only
/* The phase of a system sleep, and the number of images of the memory. */
#include <asm/barrier.h>
#include <linux/compiler.h>

#include "core/sleep.h"

/* Only dm/system_sleep.c changes these, one call at a time.  The image of the memory contains all
 * three: a resumed kernel continues in NC_SLEEP_IMAGE.
 */
static enum nc_sleep_phase sleep_phase;
static unsigned int sleep_images;
/* This sleep has begun to take an image, from which the system may be resumed. */
static bool sleep_has_image;

enum nc_sleep_phase nc_sleep_phase(void)
{
	return READ_ONCE(sleep_phase);
}

/* Number of times that an image of the memory may have been taken since the module was loaded.
 * After each of them every cache has to compare its cache device with the memory.
 */
unsigned int nc_sleep_images(void)
{
	/* Pairs with nc_sleep_set(). */
	return smp_load_acquire(&sleep_images);
}

bool nc_sleep_has_image(void)
{
	return READ_ONCE(sleep_has_image);
}

void nc_sleep_set(enum nc_sleep_phase phase)
{
	if (phase != NC_SLEEP_REST)
		WRITE_ONCE(sleep_has_image, phase == NC_SLEEP_IMAGE);
	WRITE_ONCE(sleep_phase, phase);
	if (phase == NC_SLEEP_IMAGE) {
		/* Pairs with nc_sleep_images(): a caller that reads the present number and then
		 * the phase does not read an older phase.
		 */
		smp_store_release(&sleep_images, sleep_images + 1);
	}
}

/* No image was taken after nc_sleep_set(NC_SLEEP_IMAGE). */
void nc_sleep_undo(void)
{
	WRITE_ONCE(sleep_images, sleep_images - 1);
	WRITE_ONCE(sleep_has_image, false);
	WRITE_ONCE(sleep_phase, NC_SLEEP_REST);
}
