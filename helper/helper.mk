# SPDX-License-Identifier: GPL-2.0-only
# The nearcache command. Included by the top-level Makefile; works alone too
# (make -f helper/helper.mk). Run from the top of the source tree.

BUILD	?= build
PREFIX	?= /usr/local
VERSION	?= 0.1.0

Q	?= $(if $(filter 1,$(V)),,@)
ifndef say
say	= $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' $(1) $(2))
endif

.PHONY: helper install-helper uninstall-helper
helper: $(BUILD)/helper/nearcache $(BUILD)/helper/nearcache-generator ## the nearcache command alone

include bpf/bpf.mk

# With wide characters, where there is one.
HELPER_CURSES	:= $(shell pkg-config --exists ncursesw 2>/dev/null && echo ncursesw || echo ncurses)
# A symbol is looked for in one library after the other, at each start: first those where most are.
HELPER_PKGS	:= devmapper blkid mount uuid json-c libisal nettle libnl-3.0 libnl-genl-3.0 libbpf $(HELPER_CURSES)
# Lowest first: a folder uses only those before it.
HELPER_FOLDERS	:= lib block netlink shard cli ondisk files pins open verify bpf trace top heatmap metrics daemon cmd
HELPER_SRC	:= helper/main.c $(wildcard $(HELPER_FOLDERS:%=helper/%/*.c))
# Judge of superblocks and table pages: the kernel's own source.
HELPER_OBJ	:= $(HELPER_SRC:%.c=$(BUILD)/%.o) $(BUILD)/helper/kmod/meta/format.o $(BUILD)/helper/kmod/meta/recover.o
HELPER_CFLAGS	:= -std=gnu11 -pthread -O2 -g -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
	-D_FORTIFY_SOURCE=2 -fstack-protector-strong -Wall -Wextra -Werror \
	-Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla \
	-Wpointer-arith -Wwrite-strings -Wundef -Wno-sign-compare
HELPER_INCLUDES	:= -iquote helper -iquote kmod -Iuapi -iquote bpf -I$(BUILD)/bpf $(shell pkg-config --cflags-only-I $(HELPER_PKGS) 2>/dev/null)
HELPER_LIBS	= -lc $(shell pkg-config --libs $(HELPER_PKGS))

$(BUILD)/helper/%.o: helper/%.c helper/helper.mk
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(HELPER_CFLAGS) $(CFLAGS) $(HELPER_INCLUDES) \
		-DHELPER_VERSION='"$(VERSION)"' -MMD -MP -c -o $@ $<

$(BUILD)/helper/kmod/%.o: kmod/%.c helper/helper.mk
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(HELPER_CFLAGS) $(CFLAGS) $(HELPER_INCLUDES) \
		-MMD -MP -c -o $@ $<

# What bpftool makes has the style of bpftool.
$(BUILD)/helper/bpf/builtin.o: $(BPF_SKELETONS)
$(BUILD)/helper/bpf/builtin.o: HELPER_CFLAGS += -Wno-strict-prototypes

$(BUILD)/helper/nearcache: $(HELPER_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $(LDFLAGS) -o $@ $^ $(HELPER_LIBS)

# Makes units of a table, early: it needs nothing but the table's own sources.
HELPER_GENERATOR := $(addprefix $(BUILD)/helper/,systemd/generator.o systemd/fstab.o systemd/units.o systemd/verbs.o \
	open/nearcachetab.o cli/options.o cli/option_value.o shard/partition.o lib/name.o lib/size.o lib/error.o \
	lib/sanitize.o lib/words.o block/table_params.o lib/range.o block/status_line.o)

$(BUILD)/helper/nearcache-generator: $(HELPER_GENERATOR)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -luuid

# File below the prefix, its mode, where it comes from.
HELPER_FILES := sbin/nearcache:755:$(BUILD)/helper/nearcache \
	lib/systemd/system-generators/nearcache-generator:755:$(BUILD)/helper/nearcache-generator \
	lib/systemd/system/nearcache@.service:644:$(BUILD)/helper/nearcache@.service \
	lib/systemd/system/nearcache-pins.service:644:$(BUILD)/helper/nearcache-pins.service \
	lib/systemd/system/nearcache-daemon.service:644:$(BUILD)/helper/nearcache-daemon.service \
	share/nearcache/nearcache-rules.yml:644:helper/metrics/nearcache-rules.yml \
	share/nearcache/nearcache-dashboard.json:644:helper/metrics/nearcache-dashboard.json \
	lib/udev/rules.d/69-nearcache.rules:644:helper/systemd/69-nearcache.rules \
	share/man/man8/nearcache.8:644:helper/man/nearcache.8 \
	share/man/man7/nearcache.7:644:helper/man/nearcache.7 \
	share/man/man5/nearcachetab.5:644:helper/man/nearcachetab.5 \
	share/man/man5/nearcache.conf.5:644:helper/man/nearcache.conf.5 \
	share/bash-completion/completions/nearcache:644:helper/man/nearcache.bash \
	share/zsh/site-functions/_nearcache:644:helper/man/_nearcache

# Says where things are installed, so it is made each time.
.PHONY: helper-units
helper-units:
	$(Q)for unit in nearcache@ nearcache-pins nearcache-daemon; do \
		sed 's,@sbindir@,$(PREFIX)/sbin,' helper/systemd/$$unit.service.in \
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

install-helper: helper helper-units
	$(foreach file,$(HELPER_FILES),$(call install-file,$(file)))

uninstall-helper:
	$(foreach file,$(HELPER_FILES),$(call remove-file,$(file)))

-include $(HELPER_OBJ:.o=.d) $(HELPER_GENERATOR:.o=.d)
