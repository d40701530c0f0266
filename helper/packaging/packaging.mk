# SPDX-License-Identifier: GPL-2.0-only
# Packages.  DEB_KVERS: kernels with a prebuilt module (DEB_KVERS=: none).

DEB_KVERS ?= $(KVER)
export SIGN_KEY SIGN_CERT SIGN_HASH MAINTAINER

.PHONY: deb rpm
deb: ## Debian packages in build/deb (DEB_KVERS=kernels, SIGN_KEY=, SIGN_CERT=, MAINTAINER=)
	$(Q)helper/packaging/debian/build $(BUILD)/deb $(VERSION) $(DEB_KVERS)

rpm: ## RPM packages in build/rpm (RPM_KVER=kernel with a prebuilt module)
	$(Q)helper/packaging/rpm/build $(BUILD)/rpm $(VERSION) $(RPM_KVER)
