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
helper: $(BUILD)/helper/nearcache ## the nearcache command alone

HELPER_PKGS	:= devmapper blkid mount uuid json-c libcrypto libisal libnl-3.0 libnl-genl-3.0
HELPER_SRC	:= $(wildcard helper/*.c)
# Judge of superblocks and table pages: the kernel's own source.
HELPER_OBJ	:= $(HELPER_SRC:%.c=$(BUILD)/%.o) $(BUILD)/helper/kmod/format.o $(BUILD)/helper/kmod/recover.o
HELPER_CFLAGS	:= -std=gnu11 -pthread -O2 -g -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
	-D_FORTIFY_SOURCE=2 -fstack-protector-strong -Wall -Wextra -Werror \
	-Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla \
	-Wpointer-arith -Wwrite-strings -Wundef -Wno-sign-compare
HELPER_INCLUDES	:= -Ihelper -Ikmod -Iuapi $(shell pkg-config --cflags-only-I $(HELPER_PKGS) 2>/dev/null)
HELPER_LIBS	= $(shell pkg-config --libs $(HELPER_PKGS))

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

$(BUILD)/helper/nearcache: $(HELPER_OBJ)
	$(call say,LD,$@)
	$(Q)$(CC) -pthread $(LDFLAGS) -o $@ $^ $(HELPER_LIBS)

install-helper: $(BUILD)/helper/nearcache
	$(call say,INSTALL,$(DESTDIR)$(PREFIX)/sbin/nearcache)
	$(Q)install -D -m 755 $< $(DESTDIR)$(PREFIX)/sbin/nearcache

uninstall-helper:
	$(call say,REMOVE,$(DESTDIR)$(PREFIX)/sbin/nearcache)
	$(Q)rm -f $(DESTDIR)$(PREFIX)/sbin/nearcache

-include $(HELPER_OBJ:.o=.d)
