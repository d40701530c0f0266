# SPDX-License-Identifier: GPL-2.0-only
# Builds nearcache, nearcached and nearcache-top. The top-level Makefile includes this file, which
# also works alone (make -f helper/helper.mk). Run it from the top of the source tree.

BUILD	?= build
PREFIX	?= /usr/local
VERSION	?= $(shell cat VERSION)

Q	?= $(if $(filter 1,$(V)),,@)
ifndef say
say	= $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' $(1) $(2))
endif

.PHONY: helper install-helper uninstall-helper
helper: $(addprefix $(BUILD)/helper/,nearcache nearcached nearcache-top nearcache-generator) ## only the user-space programs

include bpf/bpf.mk

# The loader searches the libraries in this order: libraries with many symbols come first.
HELPER_PKGS	:= devmapper blkid mount uuid json-c libisal nettle libnl-3.0 libnl-genl-3.0 libbpf libnvme
# ncurses with wide characters, if installed.
HELPER_TOP_PKGS	:= $(shell pkg-config --exists ncursesw 2>/dev/null && echo ncursesw || echo ncurses)
HELPER_DAEMON_PKGS := libsystemd libmicrohttpd
# Lowest layer first: a folder uses only those before it.
HELPER_FOLDERS	:= lib block netlink shard cli ondisk files pins open stage cluster verify bpf upgrade trace top heatmap metrics daemon cmd
HELPER_MAINS	:= helper/main.c helper/daemon/main.c helper/top/main.c
HELPER_SRC	:= $(filter-out $(HELPER_MAINS),$(wildcard $(HELPER_FOLDERS:%=helper/%/*.c)))
# Superblocks and pages of the slot table are checked by source files shared with the kernel module.
HELPER_OBJ	:= $(HELPER_SRC:%.c=$(BUILD)/%.o) $(BUILD)/helper/kmod/meta/ondisk_check.o $(BUILD)/helper/kmod/meta/recover.o
HELPER_LIB	:= $(BUILD)/helper/libnearcache.a
HELPER_CFLAGS	:= -std=gnu11 -pthread -O2 -g -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
	-D_FORTIFY_SOURCE=2 -fstack-protector-strong -Wall -Wextra -Werror \
	-Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla \
	-Wpointer-arith -Wwrite-strings -Wundef -Wno-sign-compare
HELPER_INCLUDES	:= -iquote helper -iquote kmod -Iuapi -iquote bpf -I$(BUILD)/bpf \
	$(shell pkg-config --cflags-only-I $(HELPER_PKGS) $(HELPER_TOP_PKGS) $(HELPER_DAEMON_PKGS) 2>/dev/null)
helper_libs	= -lc -Wl,--as-needed $(shell pkg-config --libs $(HELPER_PKGS) $(1))

$(BUILD)/helper/%.o: helper/%.c helper/helper.mk
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(HELPER_CFLAGS) $(CFLAGS) $(HELPER_INCLUDES) \
		-DHELPER_VERSION='"$(VERSION)"' -MMD -MP -c -o $@ $<

$(BUILD)/helper/cli/exec_program.o: VERSION

$(BUILD)/helper/kmod/%.o: kmod/%.c helper/helper.mk
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(HELPER_CFLAGS) $(CFLAGS) $(HELPER_INCLUDES) \
		-MMD -MP -c -o $@ $<

# The skeletons that bpftool generates have prototypes without parameters.
$(BUILD)/helper/bpf/builtin_programs.o: $(BPF_SKELETONS)
$(BUILD)/helper/bpf/builtin_programs.o: HELPER_CFLAGS += -Wno-strict-prototypes

# The folders are prerequisites: removing a source file changes its folder, and the archive must
# lose the object.
$(HELPER_LIB): $(HELPER_OBJ) $(HELPER_FOLDERS:%=helper/%)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(HELPER_OBJ)

# Arguments: program, its main object, packages that only this program needs.
define helper-program
$(BUILD)/helper/$(1): $(BUILD)/helper/$(2) $(HELPER_LIB)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) -pthread $$(LDFLAGS) -o $$@ $$^ $$(call helper_libs,$(3))

endef
$(eval $(call helper-program,nearcache,main.o,))
$(eval $(call helper-program,nearcached,daemon/main.o,$(HELPER_DAEMON_PKGS)))
$(eval $(call helper-program,nearcache-top,top/main.o,$(HELPER_TOP_PKGS)))

# Generates units from nearcachetab early in the boot, so it is linked with no library but libuuid.
HELPER_GENERATOR := $(patsubst %,$(BUILD)/helper/systemd/%.o,generator fstab units)

$(BUILD)/helper/nearcache-generator: $(HELPER_GENERATOR) $(HELPER_LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -luuid

# Path below PREFIX : mode : source file
HELPER_FILES := sbin/nearcache:755:$(BUILD)/helper/nearcache \
	sbin/nearcached:755:$(BUILD)/helper/nearcached \
	sbin/nearcache-top:755:$(BUILD)/helper/nearcache-top \
	lib/systemd/system-generators/nearcache-generator:755:$(BUILD)/helper/nearcache-generator \
	lib/systemd/system/nearcache@.service:644:$(BUILD)/helper/nearcache@.service \
	lib/systemd/system/nearcache-cluster@.service:644:$(BUILD)/helper/nearcache-cluster@.service \
	lib/systemd/system/nearcache-pins.service:644:$(BUILD)/helper/nearcache-pins.service \
	lib/systemd/system/nearcache-daemon.service:644:$(BUILD)/helper/nearcache-daemon.service \
	share/nearcache/nearcache-rules.yml:644:helper/metrics/nearcache-rules.yml \
	share/nearcache/nearcache-dashboard.json:644:helper/metrics/nearcache-dashboard.json \
	lib/udev/rules.d/62-nearcache.rules:644:$(BUILD)/helper/62-nearcache.rules \
	$(foreach page,$(notdir $(wildcard helper/man/*.8)),share/man/man8/$(page):644:helper/man/$(page)) \
	share/man/man7/nearcache.7:644:helper/man/nearcache.7 \
	share/man/man5/nearcachetab.5:644:helper/man/nearcachetab.5 \
	share/man/man5/nearcache.conf.5:644:helper/man/nearcache.conf.5 \
	share/man/man5/cluster.conf.5:644:helper/man/cluster.conf.5 \
	share/nearcache/cluster.conf.example:644:helper/man/cluster.conf.example \
	share/nearcache/nearcachetab.example:644:helper/man/nearcachetab.example \
	share/nearcache/nearcache.conf.example:644:helper/man/nearcache.conf.example \
	share/bash-completion/completions/nearcache:644:helper/man/nearcache.bash \
	share/zsh/site-functions/_nearcache:644:helper/man/_nearcache

# The units and udev rules contain PREFIX, which may differ from run to run: always rebuild them.
.PHONY: helper-units
helper-units:
	$(Q)sed 's,@sbindir@,$(PREFIX)/sbin,g' helper/udev/62-nearcache.rules.in >$(BUILD)/helper/62-nearcache.rules
	$(Q)for unit in nearcache@ nearcache-cluster@ nearcache-pins nearcache-daemon; do \
		sed 's,@sbindir@,$(PREFIX)/sbin,g' helper/systemd/$$unit.service.in \
			>$(BUILD)/helper/$$unit.service || exit; \
	done

helper_file = $(word $(1),$(subst :, ,$(2)))
define install-file
	$(call say,INSTALL,$(DESTDIR)$(PREFIX)/$(call helper_file,1,$(1)))
	$(Q)install -D -m $(call helper_file,2,$(1)) $(call helper_file,3,$(1)) \
		$(DESTDIR)$(PREFIX)/$(call helper_file,1,$(1))

endef
define remove-file
	$(call say,REMOVE,$(DESTDIR)$(PREFIX)/$(call helper_file,1,$(1)))
	$(Q)rm -f $(DESTDIR)$(PREFIX)/$(call helper_file,1,$(1))

endef

# The udev rules of earlier versions, which ran after those of mdadm, btrfs or LVM.
HELPER_OLD_RULES = $(foreach n,68 69,$(DESTDIR)$(PREFIX)/lib/udev/rules.d/$(n)-nearcache.rules)

install-helper: helper helper-units
	$(foreach file,$(HELPER_FILES),$(call install-file,$(file)))
	$(Q)rm -f $(HELPER_OLD_RULES)

uninstall-helper:
	$(foreach file,$(HELPER_FILES),$(call remove-file,$(file)))
	$(Q)rm -f $(HELPER_OLD_RULES)

-include $(HELPER_OBJ:.o=.d) $(HELPER_MAINS:%.c=$(BUILD)/%.d) $(HELPER_GENERATOR:.o=.d)
