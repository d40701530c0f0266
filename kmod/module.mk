# SPDX-License-Identifier: GPL-2.0-only
# The kernel module.  It is built in a copy of its sources below BUILD, one per kernel
# release, so that builds for several kernels can coexist.

MODULE_SRC := Kbuild VERSION $(wildcard kmod/*.c kmod/*.h kmod/*/*.c kmod/*/*.h uapi/*.h)
MODULE_DIR = $(abspath $(BUILD))/module/$(KVER)
MODULE = $(BUILD)/module/$(KVER)/dm-nearcache.ko
MODULE_DEST = $(DESTDIR)/lib/modules/$(KVER)/updates/dm-nearcache.ko
DKMS_SRC = $(DESTDIR)/usr/src/nearcache-$(VERSION)

.PHONY: module
module: $(MODULE) ## the module alone

# The module's type information refers to that of the kernel: build it again with the kernel.
$(MODULE): $(MODULE_SRC) $(wildcard $(KDIR)/Module.symvers)
	$(Q)test -n '$(KVER)' && test -d '$(KDIR)' || { \
		echo "no kernel headers for '$(KVER)' in '$(KDIR)': make deps, or KVER=, or KDIR=" >&2; exit 1; }
	$(call say,KBUILD,$@)
	$(Q)mkdir -p $(MODULE_DIR)
	$(Q)rm -f $@
	$(Q)cp -p --parents $(MODULE_SRC) $(MODULE_DIR)
	$(Q)$(MAKE) $(if $(filter 1,$(V)),V=1,-s) -C $(KDIR) M=$(MODULE_DIR) $(MODULE_FLAGS) modules
	@touch $@

.PHONY: install-module uninstall-module
install-module: $(MODULE)
	$(call say,INSTALL,$(MODULE_DEST))
	$(Q)install -D -m 644 $< $(MODULE_DEST)
	$(Q)$(if $(DESTDIR),,depmod $(KVER))

uninstall-module:
	$(call say,REMOVE,$(MODULE_DEST))
	$(Q)rm -f $(MODULE_DEST)
	$(Q)$(if $(DESTDIR),,depmod $(KVER))

.PHONY: dkms-source dkms-install
dkms-source:
	$(call say,INSTALL,$(DKMS_SRC))
	$(Q)mkdir -p $(DKMS_SRC)
	$(Q)cp -p --parents $(MODULE_SRC) $(DKMS_SRC)
	$(Q)sed 's/@VERSION@/$(VERSION)/' kmod/dkms.conf.in >$(DKMS_SRC)/dkms.conf

dkms-install: dkms-source ## register the module with DKMS, build and install it for KVER
	$(Q)dkms install -m nearcache -v $(VERSION) -k $(KVER)
