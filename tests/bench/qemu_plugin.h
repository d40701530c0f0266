/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of the emulator that sharing.c uses: version 1 of the interface for plugins of TCG
 * (QEMU 6.0 to 8.2).  Debian's package of the emulator loads plugins, but has no header for them.
 */
#ifndef NEARCACHE_BENCH_QEMU_PLUGIN_H
#define NEARCACHE_BENCH_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;

struct qemu_info {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	struct {
		int smp_vcpus;
		int max_vcpus;
	} system;
};

enum { QEMU_PLUGIN_CB_NO_REGS };
enum { QEMU_PLUGIN_MEM_RW = 3 };

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;

typedef void qemu_plugin_simple(qemu_plugin_id_t id);
typedef void qemu_plugin_translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void qemu_plugin_executed(unsigned int cpu, void *data);
typedef void qemu_plugin_accessed(unsigned int cpu, qemu_plugin_meminfo_t info, uint64_t address,
				  void *data);

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv);
void qemu_plugin_reset(qemu_plugin_id_t id, qemu_plugin_simple *done);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_translated *call);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, qemu_plugin_executed *call,
					  int flags, void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_accessed *call,
				      int flags, int rw, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info);
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t address);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *at);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *at);

#endif /* NEARCACHE_BENCH_QEMU_PLUGIN_H */
