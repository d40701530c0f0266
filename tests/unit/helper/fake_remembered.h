/* SPDX-License-Identifier: GPL-2.0-only */
/* Fake of open/remembered.c: records the settings that a command remembers. */
#ifndef FAKE_REMEMBERED_H
#define FAKE_REMEMBERED_H

/* All calls since the test emptied it: "UUID WORD" or "UUID witness=PATH after RECORDED", and ";". */
extern char fake_remembered[512];

#endif /* FAKE_REMEMBERED_H */
