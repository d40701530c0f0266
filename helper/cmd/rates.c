// SPDX-License-Identifier: GPL-2.0-only
#include "cmd/rates.h"

#include <inttypes.h>
#include <stdio.h>

#include "block/device_age.h"
#include "block/device_sysfs.h"
#include "lib/periodic_wait.h"
#include "lib/print.h"
#include "lib/size.h"

/* Writes a time as "34 s", "12 min", "5 h" or "3 d". */
static const char *span_print(uint64_t span, char *text, size_t size)
{
	static const struct {
		uint64_t seconds;
		const char *unit;
	} unit[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" } };
	double seconds = (double)span / 1e9;
	size_t i = 0;

	while (i < 3 && seconds < 2 * (double)unit[i].seconds)
		i++;
	snprintf(text, size, "%.3g %s", seconds / (double)unit[i].seconds, unit[i].unit);
	return text;
}

/*
 * Are the counters younger than the device? They begin at 0 when 'nearcache upgrade' or attach gives the
 * device a new table; then the kernel has counted more I/O of the device than they have.
 */
static bool are_younger(const struct dm_device *dev, const struct status *status)
{
	uint64_t counted = status_read_bytes(status) + status->counter[NEARCACHE_COUNTER_WRITE_BYTES];
	uint64_t read, written;
	char text[512];

	return identity_attribute(dev->number, "stat", text, sizeof(text)) &&
	       sscanf(text, "%*s %*s %" SCNu64 " %*s %*s %*s %" SCNu64, &read, &written) == 2 &&
	       512 * (read + written) > counted + counted / 64 + (1 << 20);
}

/*
 * Sets @delta to the growth of the counters since @sample, or, if it is NULL, since the device was opened.
 * Returns this time in ns, or 0 if it is unknown.
 */
static uint64_t take_growth(const struct dm_device *dev, const struct status *status,
			    const struct device_sample *sample, struct status *delta)
{
	uint64_t now = watch_now(), span;

	if (sample) {
		counters_subtract(&sample->status, status, delta);
		return now - sample->time;
	}
	*delta = *status;
	return !are_younger(dev, status) && device_age(dev->number, now, &span) ? span : 0;
}

/* Prints rates since the device is in @earlier, or averages since it was opened. */
void rates_print(const struct dm_device *dev, const struct status *status,
		 const struct device_samples *earlier)
{
	static const char *const key[] = { "read_bytes_per_s", "origin_bytes_per_s", "write_bytes_per_s" };
	char text[256], size[3][SIZE_TEXT], time[32];
	const struct device_sample *sample = device_samples_find(earlier, dev->name);
	struct status delta = { 0 };
	uint64_t span = dev->status ? take_growth(dev, status, sample, &delta) : 0;
	const uint64_t bytes[] = {
		status_read_bytes(&delta),
		delta.counter[NEARCACHE_COUNTER_FILL_ORIGIN_BYTES] +
			delta.counter[NEARCACHE_COUNTER_BYPASS_BYTES],
		delta.counter[NEARCACHE_COUNTER_WRITE_BYTES],
	};
	unsigned int i;

	for (i = 0; i < 3; i++) {
		if (span)
			print_number(key[i], NULL, per_second(bytes[i], span));
		else
			print_string(key[i], NULL, NULL);
		size_print(span ? per_second(bytes[i], span) : 0, size[i]);
	}
	print_number("rates_span_ns", NULL, span);
	if (!span)
		return;
	snprintf(text, sizeof(text), "read %s/s, from the origin %s/s, written %s/s, %s %s", size[0], size[1],
		 size[2], sample ? "in the last" : "average of", span_print(span, time, sizeof(time)));
	print_string(NULL, "rates", text);
}
