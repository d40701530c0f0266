# SPDX-License-Identifier: GPL-2.0-only
# The demos; included by the top Makefile, which defines BUILD, Q and say and
# offers the targets deps, module and helper.
#   make demo DATA=/my/shards KERNEL=6.1
#   make demo-cluster

DEMO_DIR := $(dir $(lastword $(MAKEFILE_LIST)))
DEMO_OUT := $(BUILD)/demo
DEMO_CFLAGS := -std=gnu11 -O2 -D_GNU_SOURCE -Wall -Wextra -Werror

DEMO_MAKE = $(MAKE) --no-print-directory $(if $(filter 1,$(V)),,-s)

# demo-tool NAME,SOURCES,LIBRARIES
define demo-tool
demo-tools: $(DEMO_OUT)/tools/$(1)
$(DEMO_OUT)/tools/$(1): $(addprefix $(DEMO_DIR),$(2)) $(wildcard $(DEMO_DIR)*.h) $(DEMO_DIR)demo.mk
	@mkdir -p $$(@D)
	$$(call say,CC,$$@)
	$$(Q)$$(CC) $$(DEMO_CFLAGS) $$(CFLAGS) -o $$@ $$(filter %.c,$$^) $(3)
endef

$(eval $(call demo-tool,mkshards,mkshards.c tar.c,-ljpeg))
$(eval $(call demo-tool,shardsum,shardsum.c manifest.c tar.c,-lcrypto))
$(eval $(call demo-tool,loader,loader.c pipeline.c manifest.c tar.c,-lcrypto -pthread))
$(eval $(call demo-tool,report,report.c report_load.c report_checks.c report_svg.c manifest.c,-lm))

.PHONY: demo demo-cluster demo-tools

# One step after the other: "deps" installs packages that the later steps need.
# demo-build TARGETS
define demo-build
	@$(DEMO_MAKE) deps
	@$(DEMO_MAKE) $(1)
	@release=$$(bash -c '. $(DEMO_DIR)../vm/kernel.sh && kernel_pick "$$1" "$$2"' - \
		"$${KERNEL:-6.12}" "$${KERNEL_ROOT:-}") && \
	$(DEMO_MAKE) module KVER="$$release"
endef

demo: ## train on a remote volume with and without the cache (DATA=dir: your own shards)
	$(call demo-build,demo-tools helper)
	@BUILD=$(abspath $(BUILD)) $(DEMO_DIR)run

demo-cluster: ## four nodes that cache one volume for each other; one of them dies
	$(call demo-build,helper selftests)
	@BUILD=$(abspath $(BUILD)) $(DEMO_DIR)cluster
