# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Verify the signature that sign-file appends to a module. Sourced.

# signature_verifies MODULE CERTIFICATE FOLDER: a module ends with the signature, 12 bytes of which the last 4 are
# its length, and a line of 28 bytes. Writes FOLDER/content and FOLDER/signature.
signature_verifies() {
	local length size
	[[ $(tail -c 28 "$1") == '~Module signature appended~' ]] || { echo "$1 has no signature"; return 1; }
	length=$((16#$(tail -c 32 "$1" | head -c 4 | od -An -tx1 | tr -d ' ')))
	size=$(($(stat -c %s "$1") - 40 - length))
	head -c "$size" "$1" >"$3/content" && tail -c +$((size + 1)) "$1" | head -c "$length" >"$3/signature" &&
		openssl cms -verify -binary -inform DER -in "$3/signature" -content "$3/content" -nointern -certfile "$2" -noverify -out /dev/null
}

# signature_checked MODULE CERTIFICATE FOLDER: the signature verifies, and not for a changed module.
signature_checked() {
	signature_verifies "$@" || return
	{ head -c 4096 "$1" && printf x && tail -c +4098 "$1"; } >"$3/changed" || return
	! signature_verifies "$3/changed" "$2" "$3" 2>/dev/null || { echo "the signature does not depend on the module"; return 1; }
}
