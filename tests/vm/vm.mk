# SPDX-License-Identifier: GPL-2.0-only
# Guest targets; included by the top Makefile, which defines BUILD.
#   make vm KERNEL=6.1 LOCAL_SIZE=8G REMOTE_SIZE=16G VM_MEMORY=4G VM_CPUS=2 ACCEL=kvm

VM_DIR := $(dir $(lastword $(MAKEFILE_LIST)))
VM_RUN := $(VM_DIR)run
# Kernels for all guest tests.
VM_KERNELS ?= 6.12 6.1
KERNEL ?= 6.12

export KERNEL ACCEL LOCAL_SIZE REMOTE_SIZE VM_MEMORY VM_CPUS VM_TIMEOUT

.PHONY: vm vm-selftest

vm: ## interactive shell in a guest (KERNEL=6.12 or debug, LOCAL_SIZE=1G, REMOTE_SIZE=4G, VM_MEMORY=2G)
	@BUILD=$(abspath $(BUILD)) DEBUG_KERNEL=$(abspath $(DEBUG_KERNEL)) $(VM_RUN) --interactive

vm-selftest: ## test the guest harness itself on both kernels
	@BUILD=$(abspath $(BUILD)) $(VM_DIR)selftest
