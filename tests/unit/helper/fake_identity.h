/* SPDX-License-Identifier: GPL-2.0-only */
/* Users of the devices of fake_identity.c. */
#ifndef HELPER_FAKE_IDENTITY_H
#define HELPER_FAKE_IDENTITY_H

#include <stdbool.h>

/* dm-1 is stacked on each device. */
extern bool fake_held;

#endif /* HELPER_FAKE_IDENTITY_H */
