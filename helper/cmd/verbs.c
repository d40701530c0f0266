// SPDX-License-Identifier: GPL-2.0-only
/* The verbs: operands, options, help and function of each. */
#include "files/node_share.h"
#include "cli/exec_program.h"
#include "cmd/commands.h"
#include "pins/pin_list.h"
#include "files/operand.h"

#define MODES_HELP \
"Modes: read-only refuses writes. writearound sends writes to the origin and drops the cached\n" \
"data that they overlap. writethrough also writes them to the cache, into blocks that are\n" \
"cached, and into new blocks while the cache has free ones. If the cache is full, a write\n" \
"evicts nothing. A write completes when the origin has completed it. The mode belongs to\n" \
"the running device, the cache device does not record it: give it at each open.\n" \
"'nearcache set' changes it.\n"

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
			    OPTION_FORCE | OPTION_FORMAT_ONLY | OPTION_CLUSTER | OPTION_SELF,
		.changes = true,
		.summary = "format a cache device for an origin and open it",
		.details =
"create makes /dev/mapper/NAME, which reads as the origin does. It refuses a cache device\n"
"in use. It refuses a cache device that carries a file system, a partition table, RAID,\n"
"LVM or another cache, unless --force is given. It writes nothing before all checks have\n"
"passed, and a failure leaves no cache behind.\n"
"\n"
"If the origin, or a partition of it, is a physical volume of LVM, create and open print\n"
"the LVM configuration for using the volume group through the cache; see nearcache(7).\n"
"\n"
"--cache may be given up to 16 times. Blocks are spread evenly over these devices; the\n"
"smallest one limits the share of each. Losing any of them loses the cache.\n"
"\n"
"--cluster makes the cache NAME-home in mode read-only, and the device NAME of the cluster\n"
"above it, as 'nearcache cluster join NAME' does. If that fails, the cache stays open.\n"
"\n"
"--integrity crc32c keeps a checksum of each sub-block and compares it at each hit.\n"
"Damaged data is read from the origin and cached again. The checksums take 1 GB of memory\n"
"per TB of cache with blocks of 256K, 256 MB with 1M.\n"
"\n"
WITNESS_HELP
"\n"
"--witness writes 4 KiB to the witness, so that up to 64 caches can share one. A witness\n"
"that carries anything else is refused without --force. A witness on the drive of the\n"
"cache or of the origin is always refused.\n"
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
"With --cache, open finds the origin by the device id that create recorded (wwid, serial\n"
"or uuid); --origin names the origin where the record has none. NAME need not be the name\n"
"that create used. Of several cache devices name the first one, and open finds the\n"
"others, or name all of them in their order. While a copy of one of them is plugged in,\n"
"name all of them.\n"
"\n"
"Without --cache, open reads the line of NAME in /etc/nearcache/nearcachetab (NAME ORIGIN\n"
"CACHE OPTIONS), with --all every line without noauto. --wait waits for missing devices\n"
"as long as the line says. If the cache device is missing or broken, NAME becomes a plain\n"
"dm-linear device on the origin. In a writing mode this device accepts writes if\n"
"/var/lib/nearcache can record them; the cache is emptied when it is back.\n"
"\n"
"--on-change says what to do if the size, device id or content of the origin (as far as\n"
"its fingerprint and a sample tell) or the --dataset-version is not as recorded:\n"
"  drop     empty the cache, record the origin as it is, and open\n"
"  refuse   open nothing and report the differences; this is the default, except that\n"
"           a --dataset-version other than the recorded one acts as drop for size and\n"
"           content\n"
"  trust    keep the cached data up to the end of the origin, and record the origin\n"
"           as it is: you assert that the data is the same\n"
"\n"
"--grow accepts an origin that grew and keeps the cached data. Writes through this device\n"
"do not count as a change.\n"
"\n"
"The sample is cached data that open compares with the origin: metadata of file systems,\n"
"the latest fills, and random blocks, 64 MiB or as much as can be read in a second.\n"
"--sample-at-open SIZE compares SIZE without a time limit, 0 nothing.\n"
"\n"
"Without --witness, open uses the recorded witness; --witness none forgets it. If the\n"
"witness is missing, the cache opens without it and reports a warning. --force accepts a\n"
"witness that carries something else.\n"
"\n" WITNESS_HELP
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
"--all stops every open device, including those that pass through to their origin. A\n"
"device in use does not keep the others open.\n",
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
"  mode=MODE                read-only, writearound or writethrough\n"
"  fill_memory=SIZE         most memory that fills may hold\n"
"  cache_timeout=MS         bypass the cache device after MS without a completion,\n"
"                           until it completes one; 0: never (100 to 600000)\n"
"  origin_timeout=SECONDS   how long reads are retried while the origin fails; 0:\n"
"                           they fail with it (to 86400)\n"
"  verify=N                 compare one of N hits with the origin, after the reader\n"
"                           was served; 0: none\n"
"  witness=DEV              device on another drive that keeps the cache warm over a\n"
"                           crash in a writing mode, or none; see 'open --help'\n"
"  read-ahead=SIZE          readahead of the device, for files opened from then on (0\n"
"                           to 1G); another setting, resize or attach keeps it\n"
"\n"
"I/O waits for a moment, and cached data stays. A device does not become read-only\n"
"without --force while it is mounted read-write, used as swap, open for writing, or open\n"
"by a user that nearcache cannot see (a loop device, an exported target). --force also\n"
"resumes a suspended device. After a failure the old settings hold, or the error says\n"
"that they do not.\n"
"\n"
"Settings last until the device is closed, except the witness: 'nearcache close' records\n"
"it for the next open. After a crash before that, give 'open --witness DEV'. --force\n"
"accepts a witness that carries something else. Naming the same witness again renews its\n"
"record if 'nearcache status' reports that it has none.\n",
		.run = cmd_set,
	},
	&(const struct verb){
		.name = "get",
		.operands = "NAME [SETTING...]",
		.operands_min = 1,
		.operands_max = -1,
		.summary = "show settings of a device in use",
		.details =
"Without SETTING, get shows everything that 'nearcache set' can change.\n",
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
"attach works while the device is in use.\n"
"\n"
"For a cache device: the state of NAME is bypass ('nearcache status' gives the reason).\n"
"Without --cache, attach uses the cache device that NAME had, if it works again. --cache\n"
"names the same drive under a new name, or another cache of this origin; of several\n"
"devices name the first one, or all in their order. Cached data is kept if nothing was\n"
"written or invalidated through NAME meanwhile, otherwise the cache starts empty. After a\n"
"failure NAME continues without a cache. A cache that does not record the origin as it is\n"
"now is emptied if NAME had it before, and refused otherwise; --on-change drop or refuse\n"
"overrides this.\n"
"\n"
"--format makes a new, empty cache on DEV first, as create does. It refuses a device that\n"
"carries anything unless --force is given; --force also resumes a suspended device. The\n"
"previous cache device of NAME misses all later writes: format it before it serves this\n"
"origin again. If NAME has a witness, the new cache gets a record there.\n"
"\n"
"A cache device that does not answer delays this command, and others for NAME, until its\n"
"driver gives up; NAME keeps working. I/O waits during the change, until the requests\n"
"that hang in the old cache device end.\n"
"\n"
"For an origin that went away (nvme disconnect) and came back as another device: --origin\n"
"names it; without --origin and --cache, attach finds it by its device id. Reads that\n"
"wait for the origin (origin_timeout) are then served. Cached data is kept unless the\n"
"first or last 64 KiB of the origin changed (with --on-change refuse the origin is\n"
"refused then), or a write was not known to be durable. An origin with another device id\n"
"is refused without --force, which asserts that it is the same volume.\n",
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
"resize works while the device is in use. Grow the file system afterwards. An origin that\n"
"became smaller is refused. If another host changed the first or last 64 KiB (it grew the\n"
"file system), all cached data is dropped, and the kernel log says so. For changes\n"
"elsewhere use 'nearcache invalidate'. --force also resumes a suspended device.\n",
		.run = cmd_resize,
	},
	&(const struct verb){
		.name = "pin",
		.operands = "[NAME] [TARGET...]",
		.operands_max = -1,
		.optional = OPTION_LABEL | OPTION_PRIORITY | OPTION_EXPIRES |
			    OPTION_EVICT_AFTER_USE | OPTION_BYPASS |
			    OPTION_NO_LOAD | OPTION_REFRESH | OPTION_KEEP_GONE |
			    OPTION_ALL | OPTION_WAIT | OPTION_EVERYWHERE |
			    TARGET_OPTIONS,
		.changes = true,
		.summary = "keep files in the cache, whatever else is read",
		.details =
"pin reserves room for all TARGETs, or refuses and reports the room that is needed and\n"
"the room that there is. Then a prefetch job loads them in the background. Pinned data is\n"
"not evicted. --wait shows progress; ^C cancels the job and keeps the pins. The exit code\n"
"is 4 if some of the data could not be loaded.\n"
"\n"
"Pins are recorded in /var/lib/nearcache/pins/NAME.json. open pins again, attach does\n"
"where necessary, close keeps the record, destroy removes it. A recorded pin names the\n"
"ranges where the file was. --refresh, after the file system is mounted, follows files\n"
"that moved and loads missing data: data that could not be loaded before, or was written,\n"
"invalidated or damaged since. It pins files that came into a directory named as TARGET.\n"
"It lists files that are gone and drops their pins. With --keep-gone it keeps them, and so\n"
"do later refreshes, until they are unpinned. If the file system is not mounted or the\n"
"directory cannot be read, a file is not gone. Ranges in the kernel that are not on record,\n"
"for example after a kill, are removed if the record has their label. Others stay and are\n"
"reported, except those of the daemon: another program made them, or /var is not mounted.\n"
"nearcache-pins.service runs pin --refresh --all at each boot. Pins of another device that\n"
"had the same name are left alone; --refresh takes them over. --expires ends a pin at that\n"
"time, whether the device is open or not. --priority: blocks of a higher priority are\n"
"evicted later and loaded first.\n"
"\n"
"A file that is pinned again under the same label follows the last command.\n"
"\n"
"--bypass and --evict-after-use are recorded, listed and removed like pins.\n"
"\n" CLUSTER_HELP
"--refresh follows the nodes of the cluster.\n"
"\n" LABEL_HELP
"\n" TARGET_HELP,
		.run = cmd_pin,
	},
	&(const struct verb){
		.name = "unpin",
		.operands = "NAME [TARGET...]",
		.operands_min = 1,
		.operands_max = -1,
		.optional = OPTION_LABEL | OPTION_EVERYTHING | OPTION_FROM | OPTION_EVERYWHERE,
		.changes = true,
		.summary = "remove pins of files, of a label, or all",
		.details =
"unpin removes the ranges that lie in one of the TARGETs. Pinned files and directories\n"
"need not exist any more. Their cached data stays, as ordinary data. --all also removes\n"
"ranges that others than pin added. After a file is unpinned, --refresh pins no more new\n"
"files in its directory.\n"
"\n"
"NAME of a cluster device: the pins on this node. --everywhere prints the command that\n"
"removes those on each other node.\n"
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
"START and LENGTH are those of the device. --labels prints for each label the hit ratio\n"
"of its ranges, the bytes read from the cache and from elsewhere, the bytes that fills\n"
"read from the origin, and the bytes that were prefetched in vain (wasted) or too late.\n",
		.run = cmd_ranges,
	},
	&(const struct verb){
		.name = "prefetch",
		.operands = "NAME [TARGET...]",
		.operands_min = 1,
		.operands_max = -1,
		.optional = OPTION_LABEL | OPTION_PRIORITY | OPTION_DEADLINE |
			    OPTION_BANDWIDTH | NODE_SHARE_OPTIONS | OPTION_WAIT | OPTION_PEERS |
			    OPTION_FROM_PEERS | OPTION_EVERYWHERE | TARGET_OPTIONS,
		.summary = "bring files into the cache before they are read",
		.details =
"The job loads TARGETs in the order given, in the background, while no reader needs the\n"
"origin. Jobs of higher priority run first; of one priority, the job with the earliest\n"
"deadline. --wait shows progress. ^C cancels the job; a second ^C does not wait for\n"
"requests in flight. The exit code is 4 if some of the data could not be loaded. If the\n"
"TARGETs have more than 1,048,576 ranges, prefetch makes several jobs, one after another,\n"
"and returns when the last one waits for its turn. Without --wait it ends with exit code 5\n"
"if a job waits for readers before that.\n"
"\n"
"A full cache has room for more data when readers have used some of it. Until then the job\n"
"waits: until its deadline, or else until it is cancelled or the device is closed.\n"
"\n"
"--bandwidth takes bits (40Gb/s, 400Mbit/s; powers of 1000) and bytes (5GB/s, 64M).\n"
"\n"
"--rank R and --world-size N select the share of this node. All nodes name the same\n"
"TARGETs; the shares are disjoint and cover all TARGETs. The list is sorted by name, and\n"
"shuffled if --seed is given. With --split strided, rank R has the shards R, R + N, R + 2\n"
"N ... of the list; with blocked, those from R M / N to (R + 1) M / N of M.\n"
"\n"
"Other programs can compute the same shuffle: Fisher-Yates from the end, for i from M - 1\n"
"down to 1 swap i and (next() * (i + 1)) >> 64, where next() is SplitMix64, whose state\n"
"starts as the first number of SplitMix64 with state SEED, plus EPOCH. Names are compared\n"
"byte by byte, as given and found: use the same names on all nodes. A file with several\n"
"names (hard links) counts under the first of them in this order.\n"
"\n"
"Nodes with the same list checksum share the same list. It is the CRC-32 (of zlib) of the\n"
"name, a NUL, the size in bytes in decimal digits, and a newline, for each shard of the\n"
"sorted list.\n"
"\n" CLUSTER_HELP
"--cluster also reads the other parts once, at the other nodes, whose caches keep them: 8\n"
"reads of 1 MiB at a time, in the foreground. --bandwidth limits the job and these reads,\n"
"each on its own. So one node makes the whole cluster warm, and if all nodes do it, the\n"
"origin is still read once. With replicas above 1, one of the copies becomes warm. ^C ends\n"
"the reads.\n"
"\n"
"--from-peers warms a node that joined or was replaced: a job for each peer brings data\n"
"that has its home here from the node that was its home before. That node asks the origin\n"
"for data that it does not have. Without TARGETs this is the whole part of this node, as\n"
"far as there is room. A job ends when its peer fails. Data for which no peer is up is\n"
"left out. --bandwidth limits each job.\n"
"\n" LABEL_HELP
"\n" TARGET_HELP,
		.run = cmd_prefetch,
	},
	&(const struct verb){
		.name = "plan",
		.operands = "NAME [TARGET...]",
		.operands_min = 1,
		.operands_max = -1,
		.optional = OPTION_CLEAR | OPTION_EPOCHS | NODE_SHARE_OPTIONS | OPTION_EVERYWHERE |
			    TARGET_OPTIONS,
		.summary = "declare the order in which files will be read, or show progress",
		.details =
"While a plan is active, eviction is optimal: the block that is read again last is\n"
"evicted first, and data that is read later than all cached data, or not at all, is not\n"
"cached. Readers may deviate from the plan by 128 visits of blocks, and in a long plan by\n"
"1/64 of it, 4096 at most; after a larger jump the module searches for their position.\n"
"Data that is not part of the plan evicts nothing. A plan ends when all of it was read,\n"
"or when hardly any read is part of it.\n"
"\n"
"TARGETs are in the order in which they will be read. A file may come several times, and\n"
"in parts (with --from: one range per line). --epochs repeats the list. --rank,\n"
"--world-size, --seed, --epoch and --split work as in prefetch; with --seed each epoch\n"
"has its own order, the first one that of --epoch. A plan replaces the previous one. It\n"
"has up to 4,194,304 visits of blocks (1 TiB in blocks of 256 KiB); each takes up to 49\n"
"bytes of kernel memory. 'nearcache trace plan' makes a plan from a trace.\n"
"\n"
"Without TARGETs, plan shows the progress of the plan, or where the last one ended:\n"
"visits that are over, visits that began with a hit and those that did not, visits that\n"
"no reader made (skipped), and reads outside the plan (astray).\n"
"\n" CLUSTER_HELP
"Reads of the other nodes arrive there too: plan the order of all nodes.\n"
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
"The list has unfinished jobs and the last 1024 finished ones. A waiting job has no room\n"
"until readers use data in the cache. An incomplete job is over, and left out data: there\n"
"was no room before its deadline, the data was evicted before it was read, is bypassed,\n"
"was being written, or is not readable. DONE is the part that was brought or was cached.\n",
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
"JOB is a number that 'nearcache jobs' lists. Requests in flight complete, and loaded\n"
"data stays.\n",
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
"residency prints a bar for each TARGET, or one for the whole device: # where all data is\n"
"cached, + where some is, . where none is.\n"
"\n"
"NAME of a cluster device: the part that has its home on this node, and for each node the\n"
"bytes that have their home there. Only a node itself knows which of them it has cached.\n"
"\n" TARGET_HELP,
		.run = cmd_residency,
	},
	&(const struct verb){
		.name = "invalidate",
		.operands = "NAME [TARGET...]",
		.operands_min = 1,
		.operands_max = -1,
		.optional = OPTION_RANGE | TARGET_OPTIONS_WHOLE | OPTION_EVERYWHERE,
		.changes = true,
		.summary = "drop cached data that the origin no longer has",
		.details =
"Use it after another host changed data on the origin. Reads that begin afterwards return\n"
"the data of the origin. The page cache above the device keeps its data: unmount first,\n"
"or run blockdev --flushbufs /dev/mapper/NAME afterwards if the device is not mounted.\n"
"\n"
"Without --range and TARGETs, invalidate drops all data, and the next open takes a new\n"
"fingerprint of the origin. START and LENGTH are multiples of 512 bytes. The count\n"
"includes data that writes dropped meanwhile. The mounted file system tells where a file\n"
"is: after another host rewrote a file, drop all data. TARGETs are dropped as a whole,\n"
"because the index of a shard may be wrong as well: also unwritten parts, and blocks beyond\n"
"the end of a file. --strict refuses a TARGET with holes or unwritten parts.\n"
"\n"
"NAME of a cluster device: the cache of this node. Every node has to invalidate its own;\n"
"--everywhere prints the command that each other node has to run.\n"
"\n" TARGET_HELP_WHOLE,
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
"The manifest is the output of sha256sum(1) (- is standard input); its paths are relative\n"
"to the current directory. Without FILEs, verify reads all files of the manifest; with\n"
"FILEs (directories, patterns, --from) only those. It bypasses the page cache and reads\n"
"several files at a time; data that the cache lacks is read from the origin and cached.\n"
"The exit code is 4 if a file differs, is missing, cannot be read, is not on the device,\n"
"or is not in the manifest.\n",
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
"A scrub reads the cached data. It drops data that it cannot read or that does not match\n"
"its checksum (create --integrity crc32c); such data is cached again when it is read.\n"
"--with-origin also compares data with the origin, for caches without checksums and for\n"
"changes without an invalidate. The scrub runs in the background; 'nearcache\n"
"status' shows the number of blocks left. --wait returns at the end, with exit code 4 if\n"
"data was damaged.\n",
		.run = cmd_scrub,
	},
	&(const struct verb){
		.name = "cluster",
		.operands = "join|leave|status|check [NAME]",
		.operands_min = 1,
		.operands_max = 2,
		.optional = OPTION_CLUSTER_CONFIG | OPTION_SELF | OPTION_FROM_PEERS,
		.summary = "cache one volume on several nodes for each other",
		.details =
"Several nodes that read one volume cache it for each other, so that its storage serves each\n"
"byte once. Each extent of the volume has a home, one of the nodes. The other nodes read\n"
"the extent there, over NVMe-oF; the home reads its own cache. A peer that fails costs time,\n"
"never wrong data: its extents are read at other nodes, and in the end at the origin.\n"
"\n"
"NAME is the cluster device. Its cache is NAME-home, which is open in mode read-only:\n"
"'nearcache create NAME-home --origin DEV --cache DEV --read-only'. The file is the same on\n"
"all nodes, see cluster.conf(5).\n"
"\n"
"  join NAME      export NAME-home to the other nodes, connect those that answer, and\n"
"                 make /dev/mapper/NAME; again: connect nodes that were absent, and apply\n"
"                 changes of the file to the device in use\n"
"  leave NAME     remove NAME, disconnect the peers, and end the export\n"
"  status [NAME]  show the nodes, the bytes that this node read at each of them, and\n"
"                 the problems; without NAME, of all cluster devices\n"
"  check NAME     compare device, export and connections with the file; differences are\n"
"                 listed, and give exit code 1\n"
"\n"
"Other verbs take NAME as well and act on NAME-home, see 'Clusters' in nearcache(7).\n"
"\n"
"A node that serves another volume, or another --dataset-version of it, is refused. When\n"
"the content of the volume changes, leave on all nodes; then on each node close NAME-home,\n"
"open it with another --dataset-version, and join. A node cannot invalidate the caches of\n"
"the others.\n"
"\n"
"--self, an earlier join, or NEARCACHE_NODE in the environment names this node, in this\n"
"order; without them, its address does. Later runs remember --config and --self until\n"
"leave.\n"
"\n"
"--from-peers: a node that joins a warm cluster, or replaces another node, also begins to\n"
"bring its part from its peers, as 'prefetch NAME --from-peers' does.\n",
		.run = cmd_cluster,
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
"Without NAME, all devices are shown. In JSON, one NAME gives the values at the top\n"
"level; none or several give an array \"devices\".\n",
		.run = cmd_status,
	},
	&(const struct verb){
		.name = "stats",
		.operands = "[NAME...]",
		.operands_max = -1,
		.optional = OPTION_WATCH | OPTION_INTERVAL | OPTION_COUNT,
		.summary = "show every counter with its unit and meaning",
		.details =
"Without NAME, all devices are shown. In JSON, one NAME gives the values at the top\n"
"level; none or several give an array \"devices\".\n"
"\n"
"--watch repeats: text has rates; JSON has one object per line, whose \"devices\" have the\n"
"counters and under \"delta\" their growth within \"span_ns\".\n",
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
"Give the NAME of an open device or --cache DEV, any one of several. The origin is not\n"
"touched. destroy frees the record of the cache on its witness. --force also wipes\n"
"superblocks that are damaged.\n"
"\n"
"The other devices of a cache are those of its table while it is open, otherwise those\n"
"that carry the same cache. If two devices carry the same member, destroy names both and\n"
"wipes nothing. A missing device keeps its superblocks, and so do the others of a cache\n"
"whose device is damaged and not open; destroy names them.\n",
		.run = cmd_destroy,
	},
	&(const struct verb){
		.name = "index",
		.operands = "FILE...",
		.operands_min = 1,
		.operands_max = -1,
		.optional = OPTION_SHARD_FORMAT | OPTION_SAMPLES |
			    OPTION_SUMMARY | OPTION_CHECK | OPTION_CONCATENATED,
		.summary = "list the samples of training shards and their places",
		.details =
"Formats, recognised by the content or given by --format:\n"
"  tar        WebDataset: consecutive files that share their path up to the first dot\n"
"             of the file name are one sample of that name; a file without a dot\n"
"             belongs to no sample\n"
"  tfrecord   records\n"
"  parquet    row groups, with their column chunks\n"
"  mds        MosaicML data shards\n"
"  npz        arrays of NumPy\n"
"\n"
"Offsets and lengths are bytes of the file; those of a sample include its headers. JSON\n"
"shows the parts of a sample (files of a tar archive, column chunks). The index is the\n"
"part of the file that a reader needs to open it. Only headers are read, and nothing is\n"
"written. A file that is damaged, truncated, compressed, encrypted or sparse is refused;\n"
"the others are listed all the same. An archive without an end mark is listed with a\n"
"warning. If another archive follows, --concatenated reads it too.\n"
"\n"
"--samples takes numbers, ranges and names; write = in front of a number that is a name.\n"
"JSON escapes a name that is not UTF-8 or begins with a backslash: it shows a backslash\n"
"and the name, with \\xHH for each byte that is not UTF-8 and \\\\ for a backslash. --samples,\n"
"FILEs, TARGETs and lines of --from take this form if they begin with a backslash and have\n"
"another one; also with \\x2c for a comma, \\x0a for a newline and \\x0d for a carriage return.\n"
"To give such a name unescaped, write ./ before a file or = before a sample.\n"
"index works without root privileges.\n",
		.run = cmd_index,
	},
	&(const struct verb){
		.name = "classifier",
		.operands = "load|unload|show [FILE]",
		.operands_min = 1,
		.operands_max = 2,
		.optional = OPTION_ENDED,
		.summary = "load or show the BPF program that classifies streams",
		.details =
"load makes the kernel call a program for each read and write through all caches: the\n"
"built-in one, or that of FILE (an object with one program in\n"
"SEC(\"raw_tp.w/nearcache_classify\"), see nearcache(7)). It stays until unload or\n"
"shutdown, and the module stays loaded with it. No result of the program can corrupt\n"
"data. With --dry-run the kernel only verifies the program.\n"
"\n"
"show lists the maps of the program, which bpftool reads, and for the built-in program\n"
"the streams of processes that run; with --all also of those that have ended. The reads\n"
"or writes of a process are sequential, strided, checkpoint (sequential writes) or\n"
"scattered; scattered reads turn out to be shuffled (each run once per pass), looping (the\n"
"same order again) or random once enough runs were read twice. The processes of a control\n"
"group share this class, see nearcache(7).\n",
		.run = cmd_classifier,
	},
	&(const struct verb){
		.name = "latency",
		.operands = "load|unload|show",
		.operands_min = 1,
		.operands_max = 1,
		.summary = "measure how long reads and writes take",
		.details =
"load starts a BPF program that measures all caches until unload. show prints for each\n"
"control group and path the number of requests, their mean, and upper bounds of 50, 90,\n"
"99 and 99.9 % of them (ns, to a quarter of an octave). Paths: hit (from the cache\n"
"device; one of 16 is measured), miss (from the origin into the cache), join (waits for a\n"
"fill in flight), origin (not into the cache) and write.\n",
		.run = cmd_latency,
	},
	&(const struct verb){
		.name = "heat",
		.operands = "load|unload|show",
		.operands_min = 1,
		.operands_max = 1,
		.summary = "count reads by region",
		.details =
"load starts a BPF program that counts the reads of all caches until unload. show lists\n"
"the regions of 16 MiB that were read: number of reads, bytes, and an estimate of the\n"
"cached share from samples. At most 65,536 regions are kept.\n",
		.run = cmd_heat,
	},
	&(const struct verb){
		.name = "trace",
		.operands = "record|replay|plan|show [NAME] FILE",
		.operands_min = 1,
		.operands_max = 3,
		.optional = OPTION_LABEL | OPTION_PRIORITY | OPTION_DEADLINE | OPTION_BANDWIDTH |
			    OPTION_WAIT | OPTION_FORCE | OPTION_EPOCHS,
		.summary = "record the reads of a program, and prefetch them for its next run",
		.details =
"  record NAME FILE   write the ranges of NAME that are read, in the order of their\n"
"                     first read, until ^C or SIGTERM; FILE is replaced as a whole at\n"
"                     the end; recording needs memory of 1/32768 of the bytes read\n"
"  replay NAME FILE   prefetch the recorded ranges in that order, in the background;\n"
"                     start it just before the program; it then prefetches ahead of\n"
"                     the program's reads\n"
"  plan NAME FILE     make the trace the plan of NAME, see 'plan --help'\n"
"  show FILE          show the content of a trace\n"
"\n"
"A trace is valid on every node that has the volume; --force uses it for another volume.\n"
"Its order is that of one run: a shuffled loader reads in the same order for the same\n"
"seed. A trace has each range once; --epochs N tells plan that a run reads this order N\n"
"times. --force and --dry-run also apply to plan.\n"
"\n"
"NAME of a cluster device: record takes the reads of all nodes that arrive in the cache\n"
"of this node; replay and plan take the part that has its home here.\n"
"\n"
"If the cache is full, a replay waits for readers, as a prefetch does. A trace of more than\n"
"1,048,576 extents becomes several jobs, also as in prefetch.\n",
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
"Each sample is one line, or one for each TARGET. From left to right the line shows the\n"
"place: darker cells have more cached data. While 'nearcache heat' is loaded, a second\n"
"row of cells is darker where more was read since the last sample. A sample is taken at\n"
"the end of each --interval, --count of them or until ^C. --count 1 without --interval\n"
"shows the present state, and all reads since 'heat load'. Reads are counted in regions\n"
"of 16 MiB; a smaller cell shows its share of the region, which includes reads of other\n"
"files.\n"
"\n"
"--output writes the samples as an SVG picture, time downwards, after the last sample.\n"
"The picture has at most 1000 rows (256 TARGETs share 2000) and 1 MB; a row shows the\n"
"mean of several samples where necessary. JSON has one object per line: for each TARGET\n"
"64 cells with cached data and reads.\n"
"\n"
"NAME of a cluster device: a line above the samples, and home_bytes of each cell in JSON,\n"
"show which part of a cell has its home on this node. A picture does not show it.\n"
"\n" TARGET_HELP,
		.run = cmd_heatmap,
	},
	&daemon_verb,
	&(const struct verb){
		.name = "actions",
		.operands = "[NAME]",
		.operands_max = 1,
		.optional = OPTION_REVERT | OPTION_UNCHANGED,
		.summary = "list the actions of the daemon with their reasons, or revert one",
		.details =
"States: done; taken-back, after the daemon evaluated the effect; reverted, by --revert:\n"
"the daemon leaves that setting alone for a while. With --all also the actions that\n"
"changed nothing: would (of daemon --observe), and kept, after an evaluation. The record\n"
"is /run/nearcache/actions and starts empty at each boot.\n",
		.run = cmd_actions,
	},
	&(const struct verb){
		.name = "metrics",
		.operands = "",
		.optional = OPTION_TEXTFILE | OPTION_OPENMETRICS,
		.summary = "write metrics for Prometheus",
		.details =
"The output has all counters and values of all devices, of their labels and prefetch\n"
"jobs, and histograms of latencies while 'nearcache latency' is loaded. --textfile is for\n"
"the textfile collector of node_exporter: FILE must end in .prom and is replaced as a\n"
"whole. A new FILE has mode 0644, whatever the umask; an existing one keeps owner and\n"
"mode.\n",
		.run = cmd_metrics,
	},
	&(const struct verb){
		.name = "super",
		.operands = "DEV|FILE",
		.operands_min = 1,
		.operands_max = 1,
		.summary = "show and check the superblocks and the slot table of a cache device",
		.details =
"super only reads. It also takes an image in a regular file. The exit code is 4 if\n"
"neither superblock is valid.\n",
		.run = cmd_super,
	},
	NULL,
};
