/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HELPER_FAKE_IDENTITY_H
#define HELPER_FAKE_IDENTITY_H

#include <stdbool.h>

/* If true, identity_holder() finds dm-1 stacked on each device. */
extern bool fake_held;

#endif /* HELPER_FAKE_IDENTITY_H */
