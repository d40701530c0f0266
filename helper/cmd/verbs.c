// SPDX-License-Identifier: GPL-2.0-only
/* The verbs: operands, options, help and function of each. */
#include "files/node_share.h"
#include "cli/programs.h"
#include "cmd/commands.h"
#include "pins/pins.h"
#include "files/operand.h"

#define MODES_HELP \
"Modes: read-only refuses writes. writearound sends writes to the origin and\n" \
"drops the cached data that they overlap. writethrough also writes them to the\n" \
"cache. A write completes when the origin has completed it. The mode belongs to\n" \
"the running device, the cache device does not record it: give it at each open.\n" \
"'nearcache set' changes it.\n"

#define WITNESS_HELP \
"--witness names a device on another drive, like a small partition or logical\n" \
"volume on the system drive. It records whether the cache device was present\n" \
"throughout a write session, so that a crash in a writing mode leaves a warm\n" \
"cache, except for data written or cached last. Without a witness such a crash\n" \
"leaves an empty cache. If both the cache device and the witness fail, writes\n" \
"fail.\n"

#define LABEL_HELP \
"--label names ranges or jobs that belong together: reads are counted per label,\n" \
"and 'unpin' can remove a label as a whole. Without --label, the label is the\n" \
"name of the file, for several files the name of their deepest common directory,\n" \
"and for ranges alone the first range as given.\n"

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
"Makes /dev/mapper/NAME, which reads as the origin does. Refuses a cache device\n"
"in use. Refuses a cache device that carries a file system, a partition table,\n"
"RAID, LVM or another cache, unless --force is given. Writes nothing before all\n"
"checks have passed; a failure leaves no cache behind.\n"
"\n"
"--cache may be given up to 16 times. Blocks are spread evenly over these\n"
"devices; the smallest one limits the share of each. Losing any of them loses the\n"
"cache.\n"
"\n"
"--integrity crc32c keeps a checksum of each sub-block and compares it at each\n"
"hit. Damaged data is read from the origin and cached again. The checksums take\n"
"1 GB of memory per TB of cache with blocks of 256K, 256 MB with 1M.\n"
"\n" WITNESS_HELP
"The witness gets a record of 4 KiB, so that up to 64 caches can share one. A\n"
"witness that carries anything else is refused without --force. A witness on the\n"
"drive of the cache or of the origin is always refused.\n"
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
"With --cache: finds the origin by the device id that 'create' recorded (wwid,\n"
"serial or uuid); --origin names the origin where the record has none. NAME need\n"
"not be the name that 'create' used. Of several cache devices name the first one,\n"
"and the others are found, or name all of them in their order. While a copy of\n"
"one of them is plugged in, name all of them.\n"
"\n"
"Without --cache: reads the line of NAME in /etc/nearcache/nearcachetab (NAME\n"
"ORIGIN CACHE OPTIONS), with --all every line without noauto. --wait waits for\n"
"missing devices as long as the line says. If the cache device is missing or\n"
"broken, NAME becomes a plain dm-linear device on the origin. In a writing mode\n"
"this device accepts writes if /var/lib/nearcache can record them; the cache is\n"
"emptied when it is back.\n"
"\n"
"--on-change says what to do if the size, device id or content of the origin (as\n"
"far as its fingerprint tells) or the --dataset-version is not as recorded:\n"
"  drop     empty the cache, record the origin as it is, and open\n"
"  refuse   open nothing and report the differences; this is the default, except\n"
"           that a --dataset-version other than the recorded one acts as drop for\n"
"           size and content\n"
"  trust    keep the cached data up to the end of the origin, and record the\n"
"           origin as it is: you assert that the data is the same\n"
"\n"
"--grow accepts an origin that grew and keeps the cached data. Writes through\n"
"this device do not count as a change.\n"
"\n" WITNESS_HELP
"Without --witness, the recorded witness is used; --witness none forgets it. If\n"
"the witness is missing, the cache opens without it, with a warning. --force\n"
"accepts a witness that carries something else.\n"
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
"--all stops every open device, including those that pass through to their\n"
"origin. A device in use does not keep the others open.\n",
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
"  fill_memory=SIZE            most memory that fills may hold\n"
"  cache_timeout=MS            bypass the cache device after MS without a\n"
"                              completion, until it completes one; 0: never (100\n"
"                              to 600000)\n"
"  origin_timeout=SECONDS      how long reads are retried while the origin fails;\n"
"                              0: they fail at once (to 86400)\n"
"  verify=N                    compare one of N hits with the origin, after the\n"
"                              reader was served; 0: none\n"
"  witness=DEV                 device on another drive that keeps the cache warm\n"
"                              over a crash in a writing mode, see 'open --help';\n"
"                              none: no witness\n"
"  read-ahead=SIZE             readahead of the device, for files opened from\n"
"                              then on (0 to 1G); another setting, 'resize' or\n"
"                              'attach' keeps it\n"
"\n"
"I/O waits for a moment, and cached data stays. A device does not become\n"
"read-only without --force while it is mounted read-write, used as swap, open for\n"
"writing, or open by a user that nearcache cannot see (a loop device, an exported\n"
"target). --force also resumes a suspended device. After a failure the old\n"
"settings hold, or the error says that they do not.\n"
"\n"
"Settings last until the device is closed, except the witness: 'close' records it\n"
"for the next open. After a crash before that, give 'open --witness DEV'. --force\n"
"accepts a witness that carries something else. Naming the same witness again\n"
"renews its record if 'nearcache status' reports that it has none.\n",
		.run = cmd_set,
	},
	&(const struct verb){
		.name = "get",
		.operands = "NAME [SETTING...]",
		.operands_min = 1,
		.operands_max = -1,
		.summary = "show settings of a device in use",
		.details =
"Without SETTING, all settings that 'set' can change are shown, see 'set --help'.\n",
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
"Works while the device is in use.\n"
"\n"
"For a cache device: the state of NAME is 'bypass' ('nearcache status' gives the\n"
"reason). Without --cache, the cache device that NAME had is used, if it works\n"
"again. --cache names the same drive under a new name, or another cache of this\n"
"origin; of several devices name the first one, or all in their order. Cached\n"
"data is kept if nothing was written or invalidated through NAME meanwhile,\n"
"otherwise the cache starts empty. After a failure NAME continues without a\n"
"cache. A cache that does not record the origin as it is now is emptied if NAME\n"
"had it before, and refused otherwise; --on-change drop or refuse overrides this.\n"
"\n"
"--format makes a new, empty cache on DEV first, as 'create' does. It refuses a\n"
"device that carries anything unless --force is given; --force also resumes a\n"
"suspended device. The previous cache device of NAME misses all later writes:\n"
"format it before it serves this origin again. If NAME has a witness, the new\n"
"cache gets a record there.\n"
"\n"
"A cache device that does not answer delays this command, and others for NAME,\n"
"until its driver gives up; NAME keeps working. I/O waits during the change,\n"
"until the requests that hang in the old cache device end.\n"
"\n"
"For an origin that went away ('nvme disconnect') and came back as another\n"
"device: --origin names it; without --origin and --cache, it is found by its\n"
"device id. Reads that wait for the origin (origin_timeout) are then served.\n"
"Cached data is kept unless the first or last 64 KiB of the origin changed (with\n"
"--on-change refuse the origin is refused then), or a write was not known to be\n"
"durable. An origin with another device id is refused without --force, which\n"
"asserts that it is the same volume.\n",
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
"Works while the device is in use. Grow the file system afterwards. An origin\n"
"that became smaller is refused. If another host changed the first or last 64 KiB\n"
"(it grew the file system), all cached data is dropped, and the kernel log says\n"
"so. For changes elsewhere use 'nearcache invalidate'. --force also resumes a\n"
"suspended device.\n",
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
"Reserves room for all TARGETs, or refuses and reports the room that is needed\n"
"and the room that there is. Then a prefetch job loads them in the background.\n"
"Pinned data is not evicted. --wait shows progress; ^C cancels the job and keeps\n"
"the pins. The exit code is 4 if some of the data could not be loaded.\n"
"\n"
"Pins are recorded in " PINS_DIR "/NAME.json. 'open' pins again,\n"
"'attach' does where necessary, 'close' keeps the record, 'destroy' removes it. A\n"
"recorded pin names the ranges where the file was. --refresh, after the file\n"
"system is mounted, follows files that moved and loads missing data: data that\n"
"could not be loaded before, or was written, invalidated or damaged since.\n"
"nearcache-pins.service runs 'pin --refresh --all' at each boot. Pins of another\n"
"device that had the same name are left alone; --refresh takes them over.\n"
"--expires ends a pin at that time, whether the device is open or not.\n"
"--priority: blocks of a higher priority are evicted later and loaded first.\n"
"\n" LABEL_HELP
"A file that is pinned again under the same label follows the last command.\n"
"\n"
"--bypass and --evict-after-use are recorded, listed and removed like pins.\n"
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
"Removes the ranges that lie in one of the TARGETs. Pinned files and directories\n"
"need not exist any more. Their cached data stays, as ordinary data. --all also\n"
"removes ranges that others than 'pin' added.\n"
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
"START and LENGTH are those of the device. --labels prints for each label the hit\n"
"ratio of its ranges, the bytes read from the cache and from elsewhere, the bytes\n"
"that fills read from the origin, and the bytes that were prefetched in vain\n"
"(wasted) or too late.\n",
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
"The job loads TARGETs in the order given, in the background, while no reader\n"
"needs the origin. Jobs of higher priority run first; of one priority, the job\n"
"with the earliest deadline. --wait shows progress. ^C cancels the job; a second\n"
"^C does not wait for requests in flight. The exit code is 4 if some of the data\n"
"could not be loaded.\n"
"\n"
"--bandwidth takes bits (40Gb/s, 400Mbit/s; powers of 1000) and bytes (5GB/s,\n"
"64M).\n"
"\n"
"--rank R --world-size N load the share of this node: all nodes name the same\n"
"TARGETs; the shares are disjoint and cover all TARGETs. The list is sorted by\n"
"name, and shuffled if --seed is given. With --split strided, rank R has the\n"
"shards R, R + N, R + 2 N ... of the list; with blocked, those from R M / N to\n"
"(R + 1) M / N of M.\n"
"\n"
"Other programs can compute the same shuffle: Fisher-Yates from the end, for i\n"
"from M - 1 down to 1 swap i and (next() * (i + 1)) >> 64, where next() is\n"
"SplitMix64, whose state starts as the first number of SplitMix64 with state\n"
"SEED, plus EPOCH. Names are compared byte by byte, as given and found: use the\n"
"same names on all nodes. A file with several names (hard links) counts under the\n"
"first of them in this order.\n"
"\n"
"Nodes with the same 'list checksum' share the same list. It is the CRC-32 (of\n"
"zlib) of the name, a NUL, the size in bytes in decimal digits, and a newline,\n"
"for each shard of the sorted list.\n"
"\n" LABEL_HELP
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
"While a plan is active, eviction is optimal: the block that is read again last\n"
"is evicted first, and data that is read later than all cached data, or not at\n"
"all, is not cached. Readers may deviate from the plan by 128 visits of blocks,\n"
"and in a long plan by 1/64 of it, 4096 at most; after a larger jump the module\n"
"searches for their position. Data that is not part of the plan evicts nothing. A\n"
"plan ends when all of it was read, or when hardly any read is part of it.\n"
"\n"
"TARGETs are in the order in which they will be read. A file may come several\n"
"times, and in parts (with --from: one range per line). --epochs repeats the\n"
"list. --rank, --world-size, --seed, --epoch and --split work as in 'prefetch';\n"
"with --seed each epoch has its own order, the first one that of --epoch. A plan\n"
"replaces the previous one. It has up to 4,194,304 visits of blocks (1 TiB in\n"
"blocks of 256 KiB); each takes up to 49 bytes of kernel memory. 'trace plan'\n"
"makes a plan from a trace.\n"
"\n"
"Without TARGETs, the progress of the plan is shown, or where the last one ended:\n"
"visits that are over, visits that began with a hit and those that did not,\n"
"visits that no reader made (skipped), and reads outside the plan (astray).\n"
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
"Running jobs and the last 1024 finished ones. Data can be left out for lack of\n"
"room, because it is bypassed, being written, or not readable.\n",
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
"JOB is a number that 'nearcache jobs' lists. Requests in flight complete, and\n"
"loaded data stays.\n",
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
"Prints a bar for each TARGET, or one for the whole device: '#' where all data is\n"
"cached, '+' where some is, '.' where none is.\n"
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
"Use it after another host changed data on the origin. Reads that begin\n"
"afterwards return the data of the origin. The page cache above the device keeps\n"
"its data: unmount first, or run 'blockdev --flushbufs /dev/mapper/NAME'\n"
"afterwards if the device is not mounted.\n"
"\n"
"Without --range and TARGETs, all data is dropped, and the next open takes a new\n"
"fingerprint of the origin. START and LENGTH are multiples of 512 bytes. The\n"
"count includes data that writes dropped meanwhile. The mounted file system tells\n"
"where a file is: after another host rewrote a file, drop all data.\n"
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
"The manifest is the output of 'sha256sum FILE...' ('-': standard input); its\n"
"paths are relative to the current directory. Without FILEs, all files of the\n"
"manifest are read; with FILEs (directories, patterns, --from) only those. Reads\n"
"bypass the page cache, several files at a time; data that the cache lacks is\n"
"read from the origin and cached. The exit code is 4 if a file differs, is\n"
"missing, cannot be read, is not on the device, or is not in the manifest.\n",
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
"Reads the cached data. Drops data that it cannot read or that does not match its\n"
"checksum (create --integrity crc32c); such data is cached again when it is read.\n"
"--with-origin also compares data with the origin, for caches without checksums\n"
"and for changes without an 'invalidate'. The scrub runs in the background;\n"
"'nearcache status' shows the number of blocks left. --wait returns at the end,\n"
"with exit code 4 if data was damaged.\n",
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
"Without NAME, all devices are shown. In JSON, one NAME gives the values at the\n"
"top level; none or several give an array \"devices\".\n",
		.run = cmd_status,
	},
	&(const struct verb){
		.name = "stats",
		.operands = "[NAME...]",
		.operands_max = -1,
		.optional = OPTION_WATCH | OPTION_INTERVAL | OPTION_COUNT,
		.summary = "show every counter with its unit and meaning",
		.details =
"Without NAME, all devices are shown. In JSON, one NAME gives the values at the\n"
"top level; none or several give an array \"devices\".\n"
"\n"
"--watch repeats: text has rates; JSON has one object per line, whose \"devices\"\n"
"have the counters and under \"delta\" their growth within \"span_ns\".\n",
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
"Give the NAME of an open device or --cache DEV, any one of several. The origin\n"
"is not touched. The record of the cache on its witness is freed. --force also\n"
"wipes superblocks that are damaged.\n"
"\n"
"The other devices of a cache are those of its table while it is open, otherwise\n"
"those that carry the same cache. If two devices carry the same member, both are\n"
"named and nothing is wiped. A missing device keeps its superblocks, and so do\n"
"the others of a cache whose device is damaged and not open; they are named.\n",
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
"Formats, recognised by the content or given by --format:\n"
"  tar        WebDataset: consecutive files that share their path up to the first\n"
"             dot of the file name are one sample of that name\n"
"  tfrecord   records\n"
"  parquet    row groups, with their column chunks\n"
"  mds        MosaicML data shards\n"
"  npz        arrays of NumPy\n"
"\n"
"Offsets and lengths are bytes of the file; those of a sample include its\n"
"headers. JSON shows the parts of a sample (files of a tar archive, column\n"
"chunks). The index is the part of the file that a reader needs to open it. Only\n"
"headers are read, and nothing is written. A file that is damaged, truncated,\n"
"compressed, encrypted or sparse is refused.\n"
"\n"
"--samples takes numbers, ranges and names; write '=' in front of a number that\n"
"is a name. This verb works without root privileges.\n",
		.run = cmd_index,
	},
	&(const struct verb){
		.name = "classifier",
		.operands = "load|unload|show [FILE]",
		.operands_min = 1,
		.operands_max = 2,
		.summary = "load or show the BPF program that classifies streams",
		.details =
"load makes the kernel call a program for each read and write through all caches:\n"
"the built-in one, or that of FILE (an object with one program in\n"
"SEC(\"raw_tp.w/nearcache_classify\"), see nearcache(7)). It stays until unload or\n"
"shutdown, and the module stays loaded with it. No result of the program can\n"
"corrupt data. With --dry-run the kernel only verifies the program.\n"
"\n"
"show lists the maps of the program, which bpftool reads, and for the built-in\n"
"program the streams. The reads or writes of a process are sequential, strided,\n"
"checkpoint (sequential writes) or scattered; scattered reads turn out to be\n"
"shuffled (each run once per pass), looping (the same order again) or random.\n",
		.run = cmd_classifier,
	},
	&(const struct verb){
		.name = "latency",
		.operands = "load|unload|show",
		.operands_min = 1,
		.operands_max = 1,
		.summary = "measure how long reads and writes take",
		.details =
"load starts a BPF program that measures all caches until unload. show prints for\n"
"each control group and path the number of requests, their mean, and upper bounds\n"
"of 50, 90, 99 and 99.9 % of them (ns, to a quarter of an octave). Paths: hit\n"
"(from the cache device; one of 16 is measured), miss (from the origin into the\n"
"cache), join (waits for a fill in flight), origin (not into the cache) and\n"
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
"load starts a BPF program that counts the reads of all caches until unload. show\n"
"lists the regions of 16 MiB that were read: number of reads, bytes, and an\n"
"estimate of the cached share from samples. At most 65,536 regions are kept.\n",
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
"  record NAME FILE  write the ranges of NAME that are read, in the order of\n"
"                    their first read, until ^C or SIGTERM; FILE is replaced as a\n"
"                    whole at the end; recording needs memory of 1/32768 of the\n"
"                    bytes read\n"
"  replay NAME FILE  prefetch the recorded ranges in that order, in the\n"
"                    background; start it just before the job, and it streams\n"
"                    ahead of it\n"
"  plan NAME FILE    make the trace the plan of NAME, see 'plan --help'\n"
"  show FILE         show the content of a trace\n"
"\n"
"A trace is valid on every node that has the volume; --force uses it for another\n"
"volume. Its order is that of one run: a shuffled loader reads in the same order\n"
"for the same seed. A trace of more than 262,144 extents is replayed in parts,\n"
"and 'replay' ends when the last part has begun. A trace has each range once;\n"
"--epochs tells 'plan' that each run reads the same order that often. --force and\n"
"--dry-run also apply to 'plan'. Without --label, the label of the job is\n"
"'trace'.\n",
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
"Each sample is one line, or one for each TARGET. From left to right the line\n"
"shows the place: darker cells have more cached data. While 'nearcache heat' is\n"
"loaded, a second row of cells is darker where more was read since the last\n"
"sample. A sample is taken at the end of each --interval, --count of them or\n"
"until ^C. --count 1 without --interval shows the present state, and all reads\n"
"since 'heat load'. Reads are counted in regions of 16 MiB; a smaller cell shows\n"
"its share of the region, which includes reads of other files.\n"
"\n"
"--output writes the samples as an SVG picture, time downwards, after the last\n"
"sample. The picture has at most 1000 rows (256 TARGETs share 2000) and 1 MB; a\n"
"row shows the mean of several samples where necessary. JSON has one object per\n"
"line: for each TARGET 64 cells with cached data and reads.\n"
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
"States: done; would (of 'daemon --observe'); kept and taken-back, after the\n"
"daemon evaluated the effect; reverted, by --revert: the daemon leaves that\n"
"setting alone for a while. The record is /run/nearcache/actions and starts empty\n"
"at each boot.\n",
		.run = cmd_actions,
	},
	&(const struct verb){
		.name = "metrics",
		.operands = "",
		.optional = OPTION_TEXTFILE | OPTION_OPENMETRICS,
		.summary = "write metrics for Prometheus",
		.details =
"The output has all counters and values of all devices, of their labels and\n"
"prefetch jobs, and histograms of latencies while 'nearcache latency' is loaded.\n"
"--textfile is for the textfile collector of node_exporter: FILE must end in\n"
".prom and is replaced as a whole.\n",
		.run = cmd_metrics,
	},
	&(const struct verb){
		.name = "super",
		.operands = "DEV|FILE",
		.operands_min = 1,
		.operands_max = 1,
		.summary = "show and check the superblocks and the slot table of a cache device",
		.details =
"Only reads. Also takes an image in a regular file. The exit code is 4 if neither\n"
"superblock is valid.\n",
		.run = cmd_super,
	},
	NULL,
};
