# SPDX-License-Identifier: GPL-2.0-only
# nearcache: kernel module, helper and tests.  "make help" lists the targets.

VERSION	:= $(shell cat VERSION)
BUILD	?= build
# The lists of headers (.d) name each object as it was built: use one name, however BUILD is given.
override BUILD := $(patsubst $(CURDIR)/%,%,$(abspath $(BUILD)))
PREFIX	?= /usr/local
DESTDIR	?=
Q	:= $(if $(filter 1,$(V)),,@)
say	= $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' $(1) $(2))

# Kernel to build for: KVER=release or KDIR=headers. The default is the running kernel if its
# headers are installed, otherwise the newest kernel with headers.
KVER_HEADERS := $(patsubst /lib/modules/%/build/,%,$(wildcard /lib/modules/*/build/))
ifdef KDIR
KVER := $(shell $(MAKE) -s --no-print-directory -C $(KDIR) kernelrelease 2>/dev/null)
else
KVER ?= $(or $(filter $(shell uname -r),$(KVER_HEADERS)),$(lastword \
	$(shell printf '%s\n' $(KVER_HEADERS) | sort -V)))
KDIR := /lib/modules/$(KVER)/build
endif

.PHONY: all
all: module helper ## build the module for KVER (default: running or newest kernel) and the helper

include helper/helper.mk
include kmod/module.mk
# A source tree of packages has no tests.
include $(wildcard tests/tests.mk)
include helper/packaging/packaging.mk
include kmod/netlink.mk

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' \
		$(MAKEFILE_LIST)
	@echo
	@echo 'Variables: KVER= or KDIR= (kernel), KERNEL= (guest), T= (tests), V=1, DESTDIR=, PREFIX='

.PHONY: deps deps-node
deps: ## install what building, testing and the demo need
	$(Q)tests/deps
deps-node: ## install what a node needs to build and install nearcache, and no more
	$(Q)tests/deps --node

.PHONY: install uninstall
install: install-module install-helper ## install module and helper (DESTDIR, PREFIX)
uninstall: uninstall-module uninstall-helper ## uninstall both

.PHONY: clean
clean: ## remove everything that was built
	$(Q)rm -rf $(BUILD)
