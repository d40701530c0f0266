/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The logs that were given up and could not be wiped.  Their origins have newer data, so no stage may
 * drain them later.  Each has a file in a folder that survives a reboot.
 * Functions that return int return 0, or an exit code recorded with fail(), unless noted.
 */
#ifndef HELPER_OPEN_GIVEN_UP_LOG_H
#define HELPER_OPEN_GIVEN_UP_LOG_H

int given_up_record(const unsigned char *uuid);
int given_up_check(const unsigned char *uuid, const char *log);
void given_up_forget(const unsigned char *uuid);

#endif /* HELPER_OPEN_GIVEN_UP_LOG_H */
