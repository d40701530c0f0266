// SPDX-License-Identifier: GPL-2.0-only
/*
 * A plugin of the emulator: counts a target's stores to cache lines that another processor of the
 * guest holds, and the locks that the target takes.
 *
 * A processor holds a line from its load or store on, until another one stores to the line: so a
 * store counts if, with unlimited caches, the line would have to come from another processor.
 *
 * Code counts for a target from the call of one of its functions by the rest of the kernel until
 * the return, with all that it calls.  Not counted is what runs below the functions that send I/O
 * to a device or complete it for the layer above: that code is not the target's.  The plugin finds
 * calls and returns by the places of the return addresses on the stacks: each task and each
 * interrupt has a stack of its own.  Accesses to stacks are not counted.
 *
 * The program "sharing" in the guest sends it lines, see command().  Results go to files in the
 * folder of the argument "out".
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_plugin.h"
#include "sharing.h"

#define LINE_SHIFT	6
#define LINES		(1UL << (33 - LINE_SHIFT))	/* of 8 GiB */
#define KERNEL		(1ULL << 63)
#define STACK_SHIFT	14
#define FUNCTIONS	16384
#define STACKS		4096
#define CPUS		8
#define LOCKS		65536
#define INSTRUCTIONS	(1U << 21)

/* What code does, by the letters of a command "f". */
enum {
	TARGET = 1,	/* t: belongs to the target */
	IO = 2,		/* i: maps a bio; belongs to the target */
	MISS = 4,	/* m: runs if the bio is no hit; belongs to the target */
	OUTSIDE = 8,	/* o: functions that it calls do not count for the target */
	LOCK = 16,	/* l: takes a lock */
};

/* What an instruction does, if it is not an ordinary one. */
enum { PLAIN, CALL, PUSH, RETURN, POP, LOCKED, UNSEEN };

/**
 * struct function - code of the guest's kernel
 * @start: first address
 * @end: address behind it
 * @kind: TARGET ...
 * @entered: by "not a hit": times that the rest of the kernel called it
 * @stores: stores to lines of another processor in these calls
 * @locks: locks taken in these calls
 */
struct function {
	uint64_t start;
	uint64_t end;
	unsigned int kind;
	char name[64];
	uint64_t entered[2];
	uint64_t stores[2];
	uint64_t locks[2];
};

/**
 * struct instruction - an instruction that accesses memory
 * @at: its address
 * @function: what contains it, or NULL
 * @kind: PLAIN ...
 * @shared: number of stores that counted
 */
struct instruction {
	uint64_t at;
	struct function *function;
	int kind;
	uint64_t shared;
};

/**
 * struct visit - a call of the target in progress
 * @stack: number of the stack, or 0
 * @slot: place of the return address
 * @outside: if not 0, the place of the return address of the function that is outside
 */
struct visit {
	uint64_t stack;
	uint64_t slot;
	uint64_t outside;
	struct function *function;
	bool miss;
	uint64_t stores;
	uint64_t locks;
};

struct lock {
	uint64_t at;
	uint64_t taken;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char folder[3072];
static qemu_plugin_id_t self;
static struct function functions[FUNCTIONS];
static size_t function_count;
static bool counting;
static uint8_t *holders;	/* by line: a bit for each processor */
static struct visit visits[STACKS];
static struct { uint64_t stack, slot; } cpu_at[CPUS];
static struct lock locks[LOCKS];
static struct instruction *instructions;
static size_t instruction_count;

static void die(const char *why)
{
	fprintf(stderr, "sharing: %s\n", why);
	exit(1);
}

static struct function *function_of(uint64_t at)
{
	size_t low = 0, high = function_count;

	while (low < high) {
		size_t i = (low + high) / 2;

		if (at < functions[i].start)
			high = i;
		else if (at >= functions[i].end)
			low = i + 1;
		else
			return &functions[i];
	}
	return NULL;
}

/* Visit of the target on a stack; if there is none, a free entry if @add, else NULL. */
static struct visit *visit_on(uint64_t stack, bool add)
{
	size_t i, at = (stack * 0x9e3779b97f4a7c15ULL >> 40) % STACKS;
	struct visit *free_one = NULL;

	for (i = 0; i < 16; i++) {
		struct visit *v = &visits[(at + i) % STACKS];

		if (v->stack == stack)
			return v;
		if (!v->stack && !free_one)
			free_one = v;
	}
	if (add && !free_one)
		die("too many stacks");
	return add ? free_one : NULL;
}

static void begin_visit(unsigned int cpu, struct function *f)
{
	struct visit *v = visit_on(cpu_at[cpu].stack, true);

	if (!v->stack) {
		*v = (struct visit) {
			.stack = cpu_at[cpu].stack, .slot = cpu_at[cpu].slot, .function = f,
		};
	}
	if (f->kind & MISS && !v->outside)
		v->miss = true;
}

static void end_visit(struct visit *v)
{
	v->function->entered[v->miss]++;
	v->function->stores[v->miss] += v->stores;
	v->function->locks[v->miss] += v->locks;
	memset(v, 0, sizeof(*v));
}

/* A return address was taken from the stack at @address. */
static void returned(uint64_t address)
{
	struct visit *v = visit_on(address >> STACK_SHIFT, false);

	if (!v)
		return;
	if (v->outside && address >= v->outside)
		v->outside = 0;
	if (address >= v->slot)
		end_visit(v);
}

/* A block of the target, or of a function outside, begins. */
static void on_block(unsigned int cpu, void *data)
{
	struct function *f = data;
	struct visit *v;

	pthread_mutex_lock(&mutex);
	if (counting && cpu_at[cpu].stack) {
		if (f->kind & (TARGET | IO | MISS)) {
			begin_visit(cpu, f);
		} else {
			v = visit_on(cpu_at[cpu].stack, false);
			if (v && !v->outside)
				v->outside = cpu_at[cpu].slot;
		}
	}
	pthread_mutex_unlock(&mutex);
}

static void lock_taken(uint64_t address)
{
	size_t i = (address * 0x9e3779b97f4a7c15ULL >> 40) % LOCKS;

	while (locks[i].at && locks[i].at != address)
		i = (i + 1) % LOCKS;
	locks[i].at = address;
	locks[i].taken++;
}

/* Note an access in @holders.  Returns whether it is a store to a line of another processor. */
static bool line_shared(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address)
{
	struct qemu_plugin_hwaddr *place = qemu_plugin_get_hwaddr(info, address);
	uint64_t line;
	bool shared;

	if (!place || qemu_plugin_hwaddr_is_io(place))
		return false;
	line = qemu_plugin_hwaddr_phys_addr(place) >> LINE_SHIFT;
	if (line >= LINES)
		return false;
	if (!qemu_plugin_mem_is_store(info)) {
		holders[line] |= 1U << cpu;
		return false;
	}
	shared = holders[line] & ~(1U << cpu);
	holders[line] = 1U << cpu;
	return shared;
}

static void count_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
			 struct instruction *in)
{
	bool store = qemu_plugin_mem_is_store(info);
	struct visit *v;
	bool shared;

	switch (in->kind) {
	case CALL:
	case PUSH:
		if (!store)
			break;
		cpu_at[cpu].stack = address >> STACK_SHIFT;
		if (in->kind == CALL)
			cpu_at[cpu].slot = address;
		return;
	case RETURN:
	case POP:
		if (store)
			break;
		cpu_at[cpu].stack = address >> STACK_SHIFT;
		if (in->kind == RETURN)
			returned(address);
		return;
	}
	if (address >> STACK_SHIFT == cpu_at[cpu].stack)
		return;
	shared = line_shared(cpu, info, address);
	if (!store)
		return;
	v = visit_on(cpu_at[cpu].stack, false);
	if (!v || v->outside)
		return;
	if (shared) {
		v->stores++;
		in->shared++;
	}
	if (in->kind == LOCKED && in->function && in->function->kind & LOCK) {
		v->locks++;
		lock_taken(address);
	}
}

static void on_access(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	if (address < KERNEL || cpu >= CPUS)
		return;
	pthread_mutex_lock(&mutex);
	if (counting)
		count_access(cpu, info, address, data);
	pthread_mutex_unlock(&mutex);
}

/* The kind of an instruction of x86-64, as far as it matters here. */
static int kind_of(const uint8_t *code, size_t size)
{
	size_t i = 0;

	/* Prefixes of segments and sizes, "rep", and those that the compiler adds for padding. */
	while (i + 1 < size && code[i] && strchr("\x2e\x36\x3e\x26\x64\x65\x66\xf2\xf3", code[i]))
		i++;
	if (code[i] == 0xf0)
		return LOCKED;
	if (i + 1 < size && (code[i] & 0xf0) == 0x40)
		i++;
	if (code[i] == 0xe8)
		return CALL;
	if (code[i] == 0xff && size > i + 1) {
		switch (code[i + 1] >> 3 & 7) {
		case 2:
			return CALL;
		case 6:
			return PUSH;
		}
		return PLAIN;
	}
	if ((code[i] & 0xf8) == 0x50 || code[i] == 0x68 || code[i] == 0x6a || code[i] == 0x9c)
		return PUSH;
	if (code[i] == 0xc3 || code[i] == 0xc2)
		return RETURN;
	if ((code[i] & 0xf8) == 0x58 || code[i] == 0x9d)
		return POP;
	/* Far returns: they end a block in the emulator, whose version 7.2 then calls a plugin that it
	 * has reset.
	 */
	if (code[i] == 0xcf || code[i] == 0xca || code[i] == 0xcb)
		return UNSEEN;
	return PLAIN;
}

static struct instruction *instruction_at(uint64_t at)
{
	size_t i = (at * 0x9e3779b97f4a7c15ULL >> 40) % INSTRUCTIONS;

	while (instructions[i].at && instructions[i].at != at)
		i = (i + 1) % INSTRUCTIONS;
	if (!instructions[i].at && ++instruction_count > INSTRUCTIONS / 2)
		die("too many instructions");
	instructions[i].at = at;
	return &instructions[i];
}

static void watch(struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb), i;
	struct function *f = function_of(qemu_plugin_tb_vaddr(tb));

	pthread_mutex_lock(&mutex);
	if (f && (f->kind & (TARGET | IO | MISS) ||
		  (f->kind & OUTSIDE && f->start == qemu_plugin_tb_vaddr(tb))))
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, f);
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		struct instruction *in = instruction_at(qemu_plugin_insn_vaddr(insn));

		in->function = function_of(in->at);
		in->kind = kind_of(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn));
		if (in->kind != UNSEEN)
			qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
							 QEMU_PLUGIN_MEM_RW, in);
	}
	pthread_mutex_unlock(&mutex);
}

static int by_start(const void *a, const void *b)
{
	const struct function *f = a, *g = b;

	return f->start < g->start ? -1 : f->start > g->start;
}

static int by_shared(const void *a, const void *b)
{
	const struct instruction *f = *(struct instruction *const *)a;
	const struct instruction *g = *(struct instruction *const *)b;

	return f->shared > g->shared ? -1 : f->shared < g->shared;
}

static int by_taken(const void *a, const void *b)
{
	const struct lock *f = a, *g = b;

	return f->taken > g->taken ? -1 : f->taken < g->taken;
}

static void print_instructions(FILE *out)
{
	struct instruction **sorted = calloc(instruction_count + 1, sizeof(*sorted));
	size_t i, n = 0;

	for (i = 0; i < INSTRUCTIONS; i++)
		if (instructions[i].shared)
			sorted[n++] = &instructions[i];
	qsort(sorted, n, sizeof(*sorted), by_shared);
	for (i = 0; i < n; i++) {
		struct function *f = sorted[i]->function;

		fprintf(out, "store %s+%" PRIx64 " %" PRIu64 "\n", f ? f->name : "?",
			sorted[i]->at - (f ? f->start : 0), sorted[i]->shared);
	}
	free(sorted);
}

/* Write the counts to the file @name in the folder. */
static void report(const char *name)
{
	char path[4096];
	size_t i;
	FILE *out;
	int miss;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	out = fopen(path, "w");
	if (!out)
		die("cannot write the counts");
	for (i = 0; i < function_count; i++)
		for (miss = 0; miss < 2; miss++)
			if (functions[i].entered[miss])
				fprintf(out, "%s %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
					functions[i].kind & IO ? "io" : "call", functions[i].name,
					miss ? "miss" : "-", functions[i].entered[miss],
					functions[i].stores[miss], functions[i].locks[miss]);
	qsort(locks, LOCKS, sizeof(*locks), by_taken);
	for (i = 0; i < LOCKS && locks[i].taken; i++)
		fprintf(out, "lock %" PRIx64 " %" PRIu64 "\n", locks[i].at, locks[i].taken);
	print_instructions(out);
	if (fclose(out))
		die("cannot write the counts");
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

/* The emulator has dropped all translated code. */
static void translate_again(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
}

static void begin(void)
{
	qsort(functions, function_count, sizeof(*functions), by_start);
	memset(holders, 0, LINES);
	memset(visits, 0, sizeof(visits));
	memset(cpu_at, 0, sizeof(cpu_at));
	memset(locks, 0, sizeof(locks));
	memset(instructions, 0, INSTRUCTIONS * sizeof(*instructions));
	instruction_count = 0;
	counting = true;
	qemu_plugin_reset(self, translate_again);
}

static unsigned int kind_named(const char *letters)
{
	unsigned int kind = 0;

	for (; *letters; letters++)
		kind |= *letters == 't' ? TARGET : *letters == 'i' ? IO : *letters == 'm' ? MISS :
			*letters == 'o' ? OUTSIDE : LOCK;
	return kind;
}

/* A line of the guest:
 *	f START END LETTERS NAME	a function of the kernel
 *	begin				count from now on
 *	end NAME			write the counts to the file NAME, and forget the functions
 */
static void command(char *line)
{
	struct function f = {};
	char letters[8];

	if (sscanf(line, "f %" SCNx64 " %" SCNx64 " %7s %63s", &f.start, &f.end, letters, f.name) == 4) {
		if (function_count == FUNCTIONS)
			die("too many functions");
		f.kind = kind_named(letters);
		functions[function_count++] = f;
	} else if (!strcmp(line, "begin")) {
		begin();
	} else if (!strncmp(line, "end ", 4)) {
		counting = false;
		report(line + 4);
		function_count = 0;
		qemu_plugin_reset(self, translate_again);
	} else {
		fprintf(stderr, "sharing: no command: '%s'\n", line);
		exit(1);
	}
}

/* The guest's program loads from its table: the place is the next byte. */
static void on_byte(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
	static char line[256];
	static size_t length;
	static uint64_t table;
	char byte;

	(void)cpu;
	(void)info;
	(void)data;
	pthread_mutex_lock(&mutex);
	/* Each program begins with byte 0. */
	if (!table)
		table = address;
	byte = (address - table) / SHARING_STEP;
	if (byte == SHARING_END) {
		table = 0;
		length = 0;
	} else if (byte == '\n') {
		line[length] = '\0';
		length = 0;
		command(line);
	} else if (byte && length < sizeof(line) - 1) {
		line[length++] = byte;
	}
	pthread_mutex_unlock(&mutex);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb), i;

	(void)id;
	if (qemu_plugin_tb_vaddr(tb) >= KERNEL) {
		if (counting)
			watch(tb);
		return;
	}
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (qemu_plugin_insn_size(insn) == sizeof(sharing_load) &&
		    !memcmp(qemu_plugin_insn_data(insn), sharing_load, sizeof(sharing_load)))
			qemu_plugin_register_vcpu_mem_cb(insn, on_byte, QEMU_PLUGIN_CB_NO_REGS,
							 QEMU_PLUGIN_MEM_RW, NULL);
	}
}

extern int qemu_plugin_version;
int qemu_plugin_version = 1;

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	if (argc != 1 || sscanf(argv[0], "out=%3071s", folder) != 1 ||
	    strcmp(info->target_name, "x86_64")) {
		fprintf(stderr, "sharing: needs the argument out=FOLDER, and a guest for x86_64\n");
		return 1;
	}
	self = id;
	holders = calloc(LINES, 1);
	instructions = calloc(INSTRUCTIONS, sizeof(*instructions));
	if (!holders || !instructions)
		return 1;
	translate_again(id);
	return 0;
}
