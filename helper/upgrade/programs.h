/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HELPER_UPGRADE_PROGRAMS_H
#define HELPER_UPGRADE_PROGRAMS_H

unsigned int upgrade_programs_count(void);

#endif /* HELPER_UPGRADE_PROGRAMS_H */
