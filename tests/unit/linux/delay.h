/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef UNIT_LINUX_DELAY_H
#define UNIT_LINUX_DELAY_H

/* Each test defines this function, which can act as other tasks during the sleep. */
void usleep_range(unsigned long least, unsigned long most);

#endif /* UNIT_LINUX_DELAY_H */
