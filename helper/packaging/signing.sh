# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Who builds packages, of what time, for which kernel, and with which key. Sourced by the scripts build; they
# define die().
#   MAINTAINER           "NAME <ADDRESS>" for the packages; maintainer_sed: the same as a replacement of sed's s|||
#   SIGN_KEY, SIGN_CERT  key and certificate for sign-module
#   SOURCE_DATE_EPOCH    time of the packages, by default of the latest commit

maintainer=${MAINTAINER:-${DEBFULLNAME:-The nearcache authors} <${DEBEMAIL:-nearcache@$(hostname -f 2>/dev/null || hostname)}>}
[[ $maintainer =~ ^[^\<]+\ \<[^@\>]+@[^@\>]+\>$ ]] || die "MAINTAINER='$maintainer' is not 'NAME <ADDRESS>'"
maintainer_sed=$(sed 's/[\\&|]/\\&/g' <<<"$maintainer")
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y VERSION)}
export SOURCE_DATE_EPOCH
signed='not signed'
if [[ ${SIGN_KEY:-}${SIGN_CERT:-} ]]; then
	[[ ${SIGN_KEY:-} && ${SIGN_CERT:-} ]] || die "give both SIGN_KEY and SIGN_CERT"
	[[ $SIGN_KEY == pkcs11:* || -r $SIGN_KEY ]] || die "SIGN_KEY: cannot read '$SIGN_KEY'"
	[[ -r $SIGN_CERT ]] || die "SIGN_CERT: cannot read '$SIGN_CERT'"
	[[ $SIGN_KEY == pkcs11:* ]] || SIGN_KEY=$(readlink -f "$SIGN_KEY")
	SIGN_CERT=$(readlink -f "$SIGN_CERT")
	signed='signed with the key of the builder'
fi
export SIGN_KEY=${SIGN_KEY:-} SIGN_CERT=${SIGN_CERT:-}

# write_certificate FILE: write the certificate in DER, as mokutil reads it.
write_certificate() {
	if grep -q '^-----BEGIN CERTIFICATE' "$SIGN_CERT"; then
		sed -n '/^-----BEGIN CERT/,/^-----END CERT/{/^-----/!p}' "$SIGN_CERT" | base64 -d
	else
		cat "$SIGN_CERT"
	fi >"$1"
}

# Expressions of sed that insert the functions of module_functions.sh.
module_functions=(-e '/^# MODULE_FUNCTIONS$/{' -e "r helper/packaging/module_functions.sh" -e 'd}')

# need_headers RELEASE: end unless the module can be built, and signed if asked for. Signing needs sign-file,
# which only headers of kernels with CONFIG_MODULE_SIG have.
need_headers() {
	local headers=${KDIR:-/lib/modules/$1/build}
	[[ -e $headers/Makefile ]] || die "no headers for '$1' in '$headers'"
	[[ ! $SIGN_KEY || -x $headers/scripts/sign-file ]] ||
		die "'$headers' has no scripts/sign-file to sign the module of '$1': build without SIGN_KEY"
}
