// SPDX-License-Identifier: GPL-2.0-only
/* The verbs: operands, options, help and function of each. */
#include "files/node_share.h"
#include "cli/programs.h"
#include "cmd/commands.h"
#include "pins/pins.h"
#include "files/operand.h"

#define MODES_HELP \
"Modes: read-only refuses writes; writearound sends them to the origin and drops\n" \
"what they overlap from the cache; writethrough puts them into the cache too. A\n" \
"write is done when the origin has it. The mode is the running device's, the\n" \
"cache device does not record it: give it at each open. 'nearcache set' changes\n" \
"it.\n"

#define WITNESS_HELP \
"--witness names a device on another drive, like a small partition or logical\n" \
"volume of the one that the system boots from. It knows whether the cache device\n" \
"was there all the time, so that a crash in a writing mode leaves a warm cache, but\n" \
"for what was written or cached last; without it such a crash leaves nothing cached.\n" \
"Should both devices fail, writes fail, too.\n"

#define LABEL_HELP \
"--label names what belongs together, to count what is read of it, and to take it\n" \
"back. Without it: the name of the file; of several the name of the deepest folder\n" \
"that has all of them; of ranges alone the first one as it was written.\n"

const struct verb *const verbs[] = {
	&(const struct verb){
		.name = "create",
		.operands = "NAME",
		.operands_min = 1,
		.operands_max = 1,
		.required = OPTION_ORIGIN | OPTION_CACHE,
		.optional = OPTION_MODE | OPTION_READ_ONLY | OPTION_BLOCK_SIZE |
			    OPTION_INTEGRITY | OPTION_FILL_MEMORY |
			    OPTION_CACHE_TIMEOUT |
			    OPTION_ORIGIN_TIMEOUT | OPTION_VERIFY |
			    OPTION_DATASET_VERSION | OPTION_WITNESS |
			    OPTION_FORCE | OPTION_FORMAT_ONLY,
		.changes = true,
		.summary = "format a cache device for an origin and open it",
		.details =
"Makes /dev/mapper/NAME, which reads as the origin does. A cache device that\n"
"carries a file system, a partition table, RAID, LVM or another cache is refused\n"
"without --force, one in use always. Nothing is written before everything is\n"
"checked, and a failure leaves no cache behind.\n"
"\n"
"--cache may be given up to 16 times: blocks are spread over all these devices, as\n"
"much on each as on the smallest. The loss of any is that of the cache.\n"
"\n"
"--integrity crc32c keeps a checksum of each sub-block (1 GB of memory per TB of\n"
"cache with 256K blocks, 256 MB with 1M) and looks at it in each hit: what the\n"
"cache device damaged is read from the origin, and cached again.\n"
"\n" WITNESS_HELP
"4 KiB of it are written, so that up to 64 caches share one. What carries anything\n"
"is refused without --force, what is on the drive of the cache or of the origin\n"
"always.\n"
"\n" MODES_HELP,
		.run = cmd_create,
	},
	&(const struct verb){
		.name = "open",
		.operands = "[NAME]",
		.operands_max = 1,
		.optional = OPTIONS_OPEN,
		.changes = true,
		.summary = "open a cache that was created before; its data is warm",
		.details =
"With --cache: finds the origin by the identity that create recorded (wwid, serial\n"
"or uuid); --origin names it where it has none. NAME need not be the name of create.\n"
"Of several cache devices name the first one, and the others are found, or all of\n"
"them in their order. While a copy of one of them is plugged in, only the latter.\n"
"\n"
"Without: as the line of NAME in /etc/nearcache/nearcachetab says (NAME ORIGIN CACHE\n"
"OPTIONS), --all: all lines without noauto. --wait waits for devices, as long as\n"
"the line says. If the cache is missing or broken, NAME passes through to the\n"
"origin, as a plain dm-linear: in a writing mode it can be written to if that can\n"
"be remembered in /var/lib/nearcache, and the cache is emptied when it is back.\n"
"\n"
"--on-change says what to do when the origin's size, identity, content (as far as\n"
"its fingerprint tells) or --dataset-version is not what the cache recorded:\n"
"  drop     empty the cache, record the origin as it is, and open\n"
"  refuse   open nothing, and tell what differs; the default, but for this: a\n"
"           --dataset-version other than the recorded one says by itself that the\n"
"           data was replaced, and is like drop for size and content\n"
"  trust    keep what is cached, up to the origin's end, and record the origin as\n"
"           it is: it is you who knows that it holds the same data\n"
"An origin that grew is taken, warm, with --grow. What this device itself wrote\n"
"is no change.\n"
"\n" WITNESS_HELP
"The one that was named last is found again; 'none' does without, and forgets it.\n"
"If it is missing, the cache opens without it, and a warning says so. --force takes\n"
"a witness device that carries something else.\n"
"\n" MODES_HELP,
		.run = cmd_open,
	},
	&(const struct verb){
		.name = "close",
		.operands = "[NAME]",
		.operands_max = 1,
		.optional = OPTION_ALL,
		.changes = true,
		.summary = "stop a device cleanly; its cache stays warm",
		.details =
"--all stops every device that is open, also those that pass through to their\n"
"origin. One that is in use keeps nobody from the others.\n",
		.run = cmd_close,
	},
	&(const struct verb){
		.name = "set",
		.operands = "NAME SETTING=VALUE...",
		.operands_min = 2,
		.operands_max = -1,
		.optional = OPTION_FORCE,
		.changes = true,
		.summary = "change settings of a device in use",
		.details =
"Settings:\n"
"  mode=MODE                   read-only, writearound or writethrough\n"
"  fill_memory=SIZE            cap of the memory that fills hold\n"
"  cache_timeout=MS            the cache device answers no read for so long: pass\n"
"                              it by until it does; 0: never (100 to 600000)\n"
"  origin_timeout=SECONDS      reads wait so long for an origin that fails; 0: they\n"
"                              fail as it does (to 86400)\n"
"  verify=N                    one of N hits is compared with the origin, after the\n"
"                              reader was served; 0: none\n"
"  witness=DEV                 a device on another drive that keeps the cache warm\n"
"                              over a crash in a writing mode, see 'open --help';\n"
"                              none: without\n"
"  read-ahead=SIZE             of the device, for files that are opened from then on\n"
"                              (0 to 1G); kept when another setting, 'resize' or\n"
"                              'attach' makes a new table\n"
"\n"
"I/O waits for a moment, what is cached stays. A device that is mounted\n"
"read-write, swapped to, open for writing, or open by somebody who cannot be\n"
"seen (a loop device, an exported target) does not become read-only without\n"
"--force, which also starts a device that is suspended. After a failure the old\n"
"settings hold, or the error says that they do not. Settings last until the\n"
"device is closed, but for a witness that is named: 'nearcache close' records it\n"
"for the next open; after a crash before that give 'open --witness DEV'. --force\n"
"takes one that carries something else. Naming the same one again makes it record\n"
"again, where 'nearcache status' says that it does not.\n",
		.run = cmd_set,
	},
	&(const struct verb){
		.name = "get",
		.operands = "NAME [SETTING...]",
		.operands_min = 1,
		.operands_max = -1,
		.summary = "show settings of a device in use",
		.details =
"Without SETTING: all that 'set' changes, see 'set --help'.\n",
		.run = cmd_get,
	},
	&(const struct verb){
		.name = "attach",
		.operands = "NAME",
		.operands_min = 1,
		.operands_max = 1,
		.optional = OPTION_ORIGIN | OPTION_CACHE | OPTION_FORMAT |
			    OPTION_BLOCK_SIZE | OPTION_INTEGRITY |
			    OPTION_DATASET_VERSION | OPTION_ON_CHANGE |
			    OPTION_FORCE,
		.changes = true,
		.summary = "take back a cache device or an origin that was away",
		.details =
"A cache device, for a device whose state is 'bypass' ('nearcache status' tells\n"
"why). Without --cache: the one that it had, which works again. --cache names the\n"
"same drive that was plugged in again and has another name, or another cache of\n"
"this origin; of several devices the first one, or all in their order. What is\n"
"cached is kept if nothing was written or invalidated through\n"
"NAME, else the cache starts empty. After a failure NAME goes on without a cache.\n"
"A cache that does not record the origin as it is now is emptied if NAME had it\n"
"before, and else refused; --on-change=drop or refuse says so for both.\n"
"\n"
"--format makes a new, empty cache on DEV first, as create does; what carries\n"
"anything is refused without --force, which also starts a device that is\n"
"suspended. The cache device that NAME had before misses what is written from\n"
"now on: format it before it serves this origin again. If NAME has a witness, the\n"
"cache gets a record there.\n"
"\n"
"A cache device to come that does not answer holds this command up, and others\n"
"for NAME, until its driver gives up; NAME goes on meanwhile. I/O waits for the\n"
"moment of the change, which lasts until the requests end that hang in the old\n"
"cache device.\n"
"\n"
"An origin that is gone ('nvme disconnect') and came back as another device, which\n"
"--origin names; without it, and without --cache, it is found by its identity.\n"
"Reads that wait for it (origin_timeout) are answered by it. What is cached is\n"
"kept, unless its first or last 64 KiB changed (--on-change=refuse: then it is not\n"
"taken) or something was written and not known to be durable. A device of another\n"
"identity is refused without --force, which is your word that it is the same\n"
"volume.\n",
		.run = cmd_attach,
	},
	&(const struct verb){
		.name = "resize",
		.operands = "NAME",
		.operands_min = 1,
		.operands_max = 1,
		.optional = OPTION_FORCE,
		.changes = true,
		.summary = "use the new size of an origin that grew",
		.details =
"Grow the file system afterwards. An origin that became smaller is refused. If\n"
"its first or last 64 KiB were changed by another host (which grew the file\n"
"system), all that is cached is dropped, and the kernel log says so; changes\n"
"elsewhere are for 'nearcache invalidate'. --force also starts a device that is\n"
"suspended.\n",
		.run = cmd_resize,
	},
	&(const struct verb){
		.name = "pin",
		.operands = "[NAME] [TARGET...]",
		.operands_max = -1,
		.optional = OPTION_LABEL | OPTION_PRIORITY | OPTION_EXPIRES |
			    OPTION_EVICT_AFTER_USE | OPTION_BYPASS |
			    OPTION_NO_LOAD | OPTION_REFRESH | OPTION_ALL |
			    OPTION_WAIT |
			    TARGET_OPTIONS,
		.changes = true,
		.summary = "keep files in the cache, whatever else is read",
		.details =
"Keeps room for all TARGETs, or refuses and tells how much is needed and how much\n"
"there is; then brings them in the background, by a job of 'prefetch'. What is\n"
"pinned is not evicted. --wait shows how far it is; ^C cancels the job, and what is\n"
"pinned stays. Exit code 4 if not all of it came.\n"
"\n"
"Pins are kept in " PINS_DIR "/NAME.json: 'open' pins again, and\n"
"'attach' where that is needed; 'close' keeps them, 'destroy' forgets them. Files\n"
"are then where they were; --refresh, after the file system is mounted, follows\n"
"those that moved, and brings what is missing: what could not be brought before, or\n"
"was written over, invalidated or damaged since. nearcache-pins.service says\n"
"--refresh --all at each boot. Pins of another device that had the name are left\n"
"alone; --refresh of this one takes them over. A pin with --expires ends at its\n"
"time, opened or not. --priority: what is idle of a higher one stays longer, and it\n"
"is brought first.\n"
"\n"
LABEL_HELP
"A file that is pinned again by the same label is pinned as the last one says.\n"
"\n"
"--bypass and --evict-after-use want something else of the TARGETs than to be\n"
"pinned, and are kept, listed and taken back in the same way.\n"
"\n" TARGET_HELP,
		.run = cmd_pin,
	},
	&(const struct verb){
		.name = "unpin",
		.operands = "NAME [TARGET...]",
		.operands_min = 1,
		.operands_max = -1,
		.optional = OPTION_LABEL | OPTION_EVERYTHING | OPTION_FROM,
		.changes = true,
		.summary = "remove pins of files, of a label, or all",
		.details =
"Ranges that lie in one of the TARGETs go. Files and folders that were pinned need\n"
"not be there any more. What is cached of them stays, as other data. --all takes\n"
"back also what others than 'pin' want.\n"
"\n" TARGET_HELP_WHOLE,
		.run = cmd_unpin,
	},
	&(const struct verb){
		.name = "ranges",
		.operands = "NAME",
		.operands_min = 1,
		.operands_max = 1,
		.optional = OPTION_LABELS,
		.summary = "list ranges that are pinned, bypassed or evicted after use",
		.details =
"START and LENGTH are of the device. --labels has a line for each label, with what\n"
"was read of its ranges: the part that was hit, bytes from the cache and not, read\n"
"from the origin, and prefetched in vain (wasted) or too late.\n",
		.run = cmd_ranges,
	},
	&(const struct verb){
		.name = "prefetch",
		.operands = "NAME [TARGET...]",
		.operands_min = 1,
		.operands_max = -1,
		.optional = OPTION_LABEL | OPTION_PRIORITY | OPTION_DEADLINE |
			    OPTION_BANDWIDTH | NODE_SHARE_OPTIONS | OPTION_WAIT | TARGET_OPTIONS,
		.summary = "bring files into the cache before they are read",
		.details =
"In the order in which they are named, in the background, and while nobody else\n"
"needs the origin. Jobs of higher priority come first, of one priority that with\n"
"the earliest deadline. --wait shows how far it is, and ^C cancels it, a second one\n"
"does not wait for what is on its way; exit code 4 if not all of it came.\n"
"\n"
"--bandwidth takes bits (40Gb/s, 400Mbit/s; powers of 1000) and bytes (5GB/s, 64M).\n"
"\n"
"--rank R --world-size N bring this node's share: all nodes name the same TARGETs,\n"
"the shares are disjoint and cover them. The list is sorted by name, and shuffled\n"
"if there is a --seed; strided, rank R has the shards R, R + N, R + 2 N ... of it,\n"
"blocked those from R M / N to (R + 1) M / N of M. The shuffle is the same on all\n"
"nodes, and for other programs to compute: Fisher-Yates from the end, for i from\n"
"M - 1 down to 1 swap i and (next() * (i + 1)) >> 64, where next() is SplitMix64, whose\n"
"state begins as the first number of SplitMix64 with state SEED, plus EPOCH. Names are\n"
"compared byte by byte, as they are given and found: say them alike on all nodes. A\n"
"file with several names (hard links) goes by the first of them in this order. Nodes\n"
"with the same 'list checksum' share out the same list: it is the CRC-32 (of zlib)\n"
"of the name, a NUL, the bytes as JSON has them in digits, and a newline, of each\n"
"shard of the sorted list.\n"
"\n"
LABEL_HELP
"\n" TARGET_HELP,
		.run = cmd_prefetch,
	},
	&(const struct verb){
		.name = "plan",
		.operands = "NAME [TARGET...]",
		.operands_min = 1,
		.operands_max = -1,
		.optional = OPTION_CLEAR | OPTION_EPOCHS | NODE_SHARE_OPTIONS | TARGET_OPTIONS,
		.summary = "declare the order in which files will be read, or show progress",
		.details =
"While there is a plan, of what is cached that goes first which is read again last, and\n"
"what is read again later than all that is cached, or not at all, does not come in: no\n"
"order of eviction has more hits. Readers may be off by 128 visits of blocks, and\n"
"1/64 of those of a long plan, 4096 at most; if they go elsewhere, they are looked for.\n"
"What is not part of the plan puts nothing out. A plan ends when all of it was read, and\n"
"when hardly anything that is read is part of it.\n"
"\n"
"TARGETs are in the order in which they will be read; a file may come several times, in\n"
"parts (with --from: a range on each line). --epochs reads the list so often. --rank,\n"
"--world-size, --seed, --epoch and --split are those of 'prefetch'; with --seed each epoch\n"
"has its own order, the first one that of --epoch. A plan takes the place of the one\n"
"before, and has up to 4,194,304 visits of blocks (1 TiB in blocks of 256 KiB); each\n"
"takes up to 49 bytes of the kernel's memory. 'nearcache trace plan' plans what was recorded.\n"
"\n"
"Without TARGETs it shows how far the plan is, or how far the last one came: visits\n"
"that are over, those that began with a hit and those that did not, those that nobody\n"
"made (skipped), and reads that were part of none (astray).\n"
"\n" TARGET_HELP,
		.run = cmd_plan,
	},
	&(const struct verb){
		.name = "jobs",
		.operands = "NAME",
		.operands_min = 1,
		.operands_max = 1,
		.summary = "list prefetch jobs and their progress",
		.details =
"Those that run, and the last 1024 that are over. Left out: no room, bypassed, being\n"
"written, or not readable.\n",
		.run = cmd_jobs,
	},
	&(const struct verb){
		.name = "cancel",
		.operands = "NAME [JOB...]",
		.operands_min = 1,
		.operands_max = -1,
		.optional = OPTION_EVERYTHING,
		.summary = "cancel prefetch jobs",
		.details =
"JOB is a number that 'nearcache jobs' lists. What is on its way comes still, and\n"
"what came stays.\n",
		.run = cmd_cancel,
	},
	&(const struct verb){
		.name = "residency",
		.operands = "NAME [TARGET...]",
		.operands_min = 1,
		.operands_max = -1,
		.optional = TARGET_OPTIONS,
		.summary = "show how much of a device, or of files on it, is cached",
		.details =
"A bar for each TARGET, without TARGETs one for the whole device: '#' where all is\n"
"cached, '+' where some is, '.' where nothing is.\n"
"\n" TARGET_HELP,
		.run = cmd_residency,
	},
	&(const struct verb){
		.name = "invalidate",
		.operands = "NAME [TARGET...]",
		.operands_min = 1,
		.operands_max = -1,
		.optional = OPTION_RANGE | TARGET_OPTIONS,
		.changes = true,
		.summary = "drop cached data that the origin no longer has",
		.details =
"For data that was changed on the origin past this device, by another host.\n"
"Reads that begin afterwards get the origin's. What the page cache above the\n"
"device holds stays: unmount first, or 'blockdev --flushbufs /dev/mapper/NAME'\n"
"afterwards if it is not mounted.\n"
"\n"
"Without --range and TARGETs all is dropped, and the next open takes the origin's\n"
"ends as they are now; START and LENGTH are multiples of 512 bytes. The count\n"
"includes what writes dropped meanwhile. Where a file is, is what the mounted file\n"
"system knows: for one that another host wrote anew, drop all.\n"
"\n" TARGET_HELP,
		.run = cmd_invalidate,
	},
	&(const struct verb){
		.name = "verify",
		.operands = "NAME [FILE...]",
		.operands_min = 1,
		.operands_max = -1,
		.required = OPTION_MANIFEST,
		.optional = OPTION_FROM,
		.summary = "read files through the cache and compare them with a manifest",
		.details =
"The manifest is what 'sha256sum FILE...' writes ('-': standard input); its paths are\n"
"those of the current directory. Without FILEs all of it is looked at, with FILEs\n"
"(directories, patterns, --from) those. Files are read past the page cache, several at\n"
"once; what the cache lacks comes from the origin, and is cached. Exit code 4 if one\n"
"differs, is missing, cannot be read, is not on the device, or not in the manifest.\n",
		.run = cmd_verify,
	},
	&(const struct verb){
		.name = "scrub",
		.operands = "NAME",
		.operands_min = 1,
		.operands_max = 1,
		.optional = OPTION_RATE | OPTION_WITH_ORIGIN | OPTION_WAIT |
			    OPTION_STOP,
		.changes = true,
		.summary = "check all cached data for damage, at a limited rate",
		.details =
"Reads what is cached: what cannot be read, or does not fit its checksum (create\n"
"--integrity crc32c), is dropped and cached again. --with-origin compares it with\n"
"the origin as well, for caches without checksums, and for changes that nobody\n"
"told. It goes on in the background; 'nearcache status' shows how many blocks are\n"
"left. --wait returns at the end, with exit code 4 if something was damaged.\n",
		.run = cmd_scrub,
	},
	&(const struct verb){
		.name = "list",
		.operands = "",
		.operands_max = 0,
		.summary = "list open devices, one per line",
		.run = cmd_list,
	},
	&(const struct verb){
		.name = "status",
		.operands = "[NAME...]",
		.operands_max = -1,
		.summary = "show mode, state, devices, sizes and hit ratio",
		.details =
"Without NAME: all devices. In JSON one NAME gives the values at the top level,\n"
"none or several an array \"devices\".\n",
		.run = cmd_status,
	},
	&(const struct verb){
		.name = "stats",
		.operands = "[NAME...]",
		.operands_max = -1,
		.optional = OPTION_WATCH | OPTION_INTERVAL | OPTION_COUNT,
		.summary = "show every counter with its unit and meaning",
		.details =
"Without NAME: all devices. In JSON one NAME gives the values at the top level,\n"
"none or several an array \"devices\".\n"
"\n"
"--watch shows what happens, again and again: rates in text; in JSON an object on each\n"
"line, whose \"devices\" have the counters, and under \"delta\" by how much each\n"
"grew in \"span_ns\".\n",
		.run = cmd_stats,
	},
	&top_verb,
	&(const struct verb){
		.name = "destroy",
		.operands = "[NAME]",
		.operands_max = 1,
		.optional = OPTION_CACHE | OPTION_FORCE,
		.changes = true,
		.summary = "close a device and wipe the superblocks of its cache",
		.details =
"Give NAME of an open device or --cache DEV, any of several. The origin is not\n"
"touched. --force wipes superblocks that are damaged too. The cache's record on its witness is\n"
"freed.\n"
"\n"
"The other devices of a cache are those of its table while it is open, else those that carry it:\n"
"if two carry the same one of them, both are named and nothing is wiped. A device that is missing\n"
"keeps what it has, as do the others of one that is damaged and not open: they are named.\n",
		.run = cmd_destroy,
	},
	&(const struct verb){
		.name = "index",
		.operands = "FILE...",
		.operands_min = 1,
		.operands_max = -1,
		.optional = OPTION_SHARD_FORMAT | OPTION_SAMPLES |
			    OPTION_SUMMARY | OPTION_CHECK,
		.summary = "list the samples of training shards and their places",
		.details =
"Formats, told by the content or by --format:\n"
"  tar        WebDataset: files that follow each other and share their path up to\n"
"             the first dot of the file name are one sample, named by that\n"
"  tfrecord   records\n"
"  parquet    row groups, with their column chunks\n"
"  mds        MosaicML data shards\n"
"  npz        arrays of NumPy\n"
"\n"
"Offsets and lengths are bytes of the file; those of a sample include its headers.\n"
"The parts of a sample (files of a tar archive, column chunks) are shown in JSON.\n"
"The index is what a reader needs to open the file. Only headers are read, and\n"
"nothing is written. A file that is damaged, cut off, compressed, encrypted or\n"
"sparse is refused.\n"
"\n"
"--samples takes numbers, ranges and names; a number that is meant as a name has a\n"
"'=' before it. No need to be root.\n",
		.run = cmd_index,
	},
	&(const struct verb){
		.name = "classifier",
		.operands = "load|unload|show [FILE]",
		.operands_min = 1,
		.operands_max = 2,
		.summary = "load or show the BPF program that classifies streams",
		.details =
"load has the kernel call a program for what is read and written through all caches:\n"
"the built-in one, or that of FILE (an object with one program in\n"
"SEC(\"raw_tp.w/nearcache_classify\"), see nearcache(7)). It stays until unload, or\n"
"until the machine is off; while it is loaded, so is the module. Whatever it answers,\n"
"data is never wrong. With --dry-run the kernel judges the program, and that is all.\n"
"\n"
"show lists its maps, which bpftool reads, and, of the built-in program, the\n"
"streams: what each process reads or writes is sequential, strided, checkpoint\n"
"(written one after another) or scattered; what is scattered turns out to be shuffled\n"
"(each run once per pass), looping (in the same order again) or random.\n",
		.run = cmd_classifier,
	},
	&(const struct verb){
		.name = "latency",
		.operands = "load|unload|show",
		.operands_min = 1,
		.operands_max = 1,
		.summary = "measure how long reads and writes take",
		.details =
"load has a BPF program measure all caches until unload. show prints, for each control\n"
"group and the way a piece of a read or write went: how many there were, their mean,\n"
"and what 50, 90, 99 and 99.9 % of them took at most (ns, to a quarter of an octave):\n"
"hit (from the cache device; one of 16 is measured), miss (from the origin, into the\n"
"cache), join (with what was being read already), origin (not into the cache) and\n"
"write.\n",
		.run = cmd_latency,
	},
	&(const struct verb){
		.name = "heat",
		.operands = "load|unload|show",
		.operands_min = 1,
		.operands_max = 1,
		.summary = "count reads by region",
		.details =
"load has a BPF program count the reads of all caches until unload. show lists the\n"
"regions, of 16 MiB, that were read: how often, how much, and what of it was\n"
"cached, as far as samples tell. 65,536 of them are kept.\n",
		.run = cmd_heat,
	},
	&(const struct verb){
		.name = "trace",
		.operands = "record|replay|plan|show [NAME] FILE",
		.operands_min = 1,
		.operands_max = 3,
		.optional = OPTION_LABEL | OPTION_PRIORITY | OPTION_DEADLINE | OPTION_BANDWIDTH |
			    OPTION_WAIT | OPTION_FORCE | OPTION_EPOCHS,
		.summary = "record the reads of a job, and prefetch them for its next run",
		.details =
"record NAME FILE writes down which parts of NAME are read, in the order in which they\n"
"are first read, until ^C or SIGTERM; FILE is complete then, or as it was. It takes memory of\n"
"1/32768 of what is read. replay NAME FILE prefetches them in that order, in the background,\n"
"like 'prefetch': begun just before the job, it streams ahead of it. FILE is\n"
"for all nodes that have the volume; --force replays it on another one. Its order is that\n"
"of one run: a shuffled loader reads the same one for the same seed. A trace of more than 262,144\n"
"extents is replayed in parts, and 'replay' lasts until the last one has begun.\n"
"plan NAME FILE makes it the plan of NAME, see 'plan': parts are cached that are read again\n"
"soonest. --force and --dry-run are for it, too. A trace has each part once, so of what is read\n"
"again it tells only with --epochs, as if each run read the same order so often.\n"
"show FILE tells what is in it. --label is of the job: without it, 'trace'.\n",
		.run = cmd_trace,
	},
	&(const struct verb){
		.name = "heatmap",
		.operands = "NAME [TARGET...]",
		.operands_min = 1,
		.operands_max = -1,
		.optional = OPTION_INTERVAL | OPTION_COUNT | OPTION_OUTPUT |
			    TARGET_OPTIONS,
		.summary = "draw cached data and reads, place by time",
		.details =
"A line for each sample, with TARGETs one for each of them: from left to right the\n"
"place, darker where more of a cell is cached; beside it, where 'nearcache heat' is\n"
"loaded, darker where it was read more since the sample before. A sample is taken at\n"
"the end of each --interval, --count of them or until ^C; --count 1 without --interval\n"
"shows what is now, and all reads since 'heat load'. Those are counted by regions of\n"
"16 MiB: smaller cells have their share of what was read there, of other files, too.\n"
"\n"
"--output has the same as an SVG picture, time downwards, when the last sample was\n"
"taken: in up to 1000 rows (256 TARGETs share 2000) and 1 MB, of several samples each\n"
"where that is not enough; then what is cached is their mean. JSON has an object on\n"
"each line: 64 cells of each TARGET with what is cached, and reads.\n"
"\n" TARGET_HELP,
		.run = cmd_heatmap,
	},
	&daemon_verb,
	&(const struct verb){
		.name = "actions",
		.operands = "[NAME]",
		.operands_max = 1,
		.optional = OPTION_REVERT,
		.summary = "list the actions of the daemon with their reasons, or revert one",
		.details =
"States: done; would (of 'daemon --observe'); kept and taken-back, when the effect of an\n"
"action had been looked at; reverted, by --revert: the daemon leaves that setting alone\n"
"for a while. The record is in /run/nearcache/actions, and begins anew at each boot.\n",
		.run = cmd_actions,
	},
	&(const struct verb){
		.name = "metrics",
		.operands = "",
		.optional = OPTION_TEXTFILE | OPTION_OPENMETRICS,
		.summary = "write metrics for Prometheus",
		.details =
"All counters and numbers of all devices, of their labels and prefetch jobs, and histograms\n"
"of latencies where 'nearcache latency' is loaded. --textfile is for node_exporter's\n"
"textfile collector: FILE, which must end in .prom there, is replaced at once.\n",
		.run = cmd_metrics,
	},
	&(const struct verb){
		.name = "super",
		.operands = "DEV|FILE",
		.operands_min = 1,
		.operands_max = 1,
		.summary = "show and check the superblocks and the slot table of a cache device",
		.details =
"Reads only. Takes an image in a regular file too. Exit code 4 when neither\n"
"superblock is sound.\n",
		.run = cmd_super,
	},
	NULL,
};
