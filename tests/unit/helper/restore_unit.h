/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of pins/restore.c in a new folder. fake_restore.c fakes files and mounts, and record()
 * makes a record of a pinned file and of a pinned range.
 */
#ifndef HELPER_RESTORE_UNIT_H
#define HELPER_RESTORE_UNIT_H

#include "block/device_sysfs.h"
#include "fake_dm.h"
#include "fake_nl.h"
#include "lib/error.h"
#include "pins/change.h"
#include "pins/pin_list.h"
#include "pins/pinned_file.h"
#include "pins/record_owner.h"
#include "pins/restore.h"
#include "unit.h"

#define K	1024ULL
#define PIN	NEARCACHE_RANGE_PIN
#define RECORD	PINS_DIR "/nc.json"

/**
 * struct fake_restore - answers of the fakes
 * @file: path of the file
 * @folder: path of a folder on the device
 * @in_folder: path of the only file in @folder
 * @place: where the file is on the device now, in bytes
 * @lost: answer of mounted_look() if a pinned file is not at its path
 * @renamed_to: new path of that file; NULL: none
 * @mounted: the folder is on the device
 * @origin_id: device id of the origin; "": unknown
 * @warning: the last warning
 */
struct fake_restore {
	char file[64];
	char folder[64];
	char in_folder[64];
	uint64_t place;
	enum file_state lost;
	const char *renamed_to;
	bool mounted;
	const char *origin_id;
	char warning[512];
};

extern struct fake_restore fake_restore;
extern struct restored restored;

void want(struct pins *pins, const char *path, uint64_t start, uint64_t length);
void record(uint64_t second_bytes);
void own(void);
bool restored_of(const char *uuid, const char *id);
int restore_setup(void **state);
int restore_teardown(void **state);
int restore_run(const struct CMUnitTest *tests, size_t count);

#define RESTORE_TEST(name) \
	cmocka_unit_test_setup_teardown(name, restore_setup, restore_teardown)
#define RESTORE_RUN(tests)	restore_run(tests, sizeof(tests) / sizeof((tests)[0]))

#endif /* HELPER_RESTORE_UNIT_H */
