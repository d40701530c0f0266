/* SPDX-License-Identifier: GPL-2.0-only */
/* Paragraphs of the help that several verbs share. */
#ifndef HELPER_CMD_SHARED_HELP_H
#define HELPER_CMD_SHARED_HELP_H

#define MODES_HELP \
"Modes: read-only refuses writes. writearound sends writes to the origin and drops the cached\n" \
"data that they overlap. writethrough also writes them to the cache, into blocks that are\n" \
"cached, and into new blocks while the cache has free ones. If the cache is full, a write\n" \
"evicts nothing. A write completes when the origin has completed it, with a stage when its\n" \
"log has it. The mode is remembered for the next open; 'nearcache set' changes it.\n"

#define SETTINGS_HELP \
"The next open uses the mode, the fill memory, the timeouts, verify and the limits of a stage\n" \
"that create, open, set or stage gave last, and the read-ahead that set gave. They are in\n" \
"/var/lib/nearcache/settings/UUID on this node.\n"

#define WITNESS_HELP \
"--witness names a device on another drive, like a small partition or logical volume on\n" \
"the system drive. It records whether the cache device was present throughout a write\n" \
"session, so that a crash in a writing mode leaves a warm cache, except for data written\n" \
"or cached last. Without a witness such a crash leaves an empty cache. If both the cache\n" \
"device and the witness fail, writes fail.\n"

#define LABEL_HELP \
"A label names ranges or jobs that belong together: reads are counted per label, and a\n" \
"label can be unpinned as a whole. Without --label, the label is the name of the file,\n" \
"for several files the name of their deepest common directory, and for ranges alone the\n" \
"first range as given.\n"

#define CLUSTER_HELP \
"NAME of a cluster device: the part of the TARGETs that has its home on this node. The\n" \
"output says how much that is. --everywhere prints the command that each other node has\n" \
"to run; it runs none of them.\n"

#endif /* HELPER_CMD_SHARED_HELP_H */
