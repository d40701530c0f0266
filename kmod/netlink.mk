# SPDX-License-Identifier: GPL-2.0-only
# The netlink interface in C, generated from uapi/nearcache.yaml.  The generator is that of the
# distribution's kernel source; the result is committed.
#
# It looks for the schema one folder above the spec, and for a MAINTAINERS file at the root.

NETLINK_OUT ?= .
NETLINK_SPEC := $(KSELFTEST)/Documentation/netlink/specs/nearcache.yaml
NETLINK_GEN = $(Q)cd $(KSELFTEST) && python3 tools/net/ynl/ynl-gen-c.py --spec $(abspath $(NETLINK_SPEC))

.PHONY: netlink
netlink: $(KSELFTEST_STAMP) ## generate the netlink interface from uapi/nearcache.yaml (NETLINK_OUT=.)
	$(Q)mkdir -p $(dir $(NETLINK_SPEC)) $(NETLINK_OUT)/uapi $(NETLINK_OUT)/kmod/netlink
	$(Q)touch $(KSELFTEST)/MAINTAINERS
	$(Q)cp uapi/nearcache.yaml $(NETLINK_SPEC)
	$(NETLINK_GEN) --mode uapi --header -o $(abspath $(NETLINK_OUT))/uapi/nearcache.h
	$(NETLINK_GEN) --mode kernel --header -o $(abspath $(NETLINK_OUT))/kmod/netlink/policy_gen.h
	$(NETLINK_GEN) --mode kernel --source -o $(abspath $(NETLINK_OUT))/kmod/netlink/policy_gen.c
