// SPDX-License-Identifier: GPL-2.0-only
/* lib/redact.c: secrets in configuration, logs and JSON are replaced, and nothing else is. */
#include <stdio.h>

#include "lib/redact.h"
#include "unit.h"

static const char *redacted(const char *line)
{
	static char text[256];

	snprintf(text, sizeof(text), "%s", line);
	redact_line(text, sizeof(text));
	return text;
}

static void secrets_go(void **state)
{
	static const char *const row[][2] = {
		{ "secret = hunter2\n", "secret = (removed)\n" },
		{ "dhchap_secret=abc,next=1", "dhchap_secret=(removed),next=1" },
		{ "PASSWORD: \"two words\"", "PASSWORD: \"(removed) words\"" },
		{ "  \"api-token\": \"t0p\",", "  \"api-token\": \"(removed)\"," },
		{ "\tkey = AQBSdFhm8Ud1GBAAc2Vjcm V0", "\tkey = (removed) V0" },
		{ "x AQBSdFhmAAAAABAAc2VjcmV0c2VjcmV0c2VjAA== y", "x (removed) y" },
		{ "opts name=admin,AQBSdFhmAAAAABAAc2VjcmV0c2VjcmV0c2VjAA==", "opts name=admin,(removed)" },
		{ "peer DHHC-1:00:c2VjcmV0: refused", "peer (removed) refused" },
		{ "psk NVMeTLSkey-1:01:abc:", "psk (removed)" },
		{ "origin https://me:pw@host/x and a", "origin https://(removed)@host/x and a" },
		{ "key=a key=b", "key=(removed) key=(removed)" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		char text[256];

		snprintf(text, sizeof(text), "%s", row[i][0]);
		assert_true(redact_line(text, sizeof(text)));
		assert_string_equal(text, row[i][1]);
		/* A second pass changes nothing. */
		assert_false(redact_line(text, sizeof(text)));
	}
}

static void other_text_stays(void **state)
{
	static const char *const line[] = {
		"", "secret-file = /etc/nearcache/cluster.secret", "secret", "key:", "monkey = 7",
		"imagenet /dev/disk/by-id/nvme-uuid.3d0b UUID=ffc45aad-60bf-42f0-88b9-7283dbfab37d _netdev",
		"0 2048 nearcache read-only 259:1 259:2", "http://127.0.0.1:9417/metrics",
		"secrets are not here", "AQ==", "//a:b/c@d",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(line) / sizeof(line[0]); i++)
		assert_string_equal(redacted(line[i]), line[i]);
}

/* A line that fills its buffer is cut, and never written beyond it. */
static void long_lines(void **state)
{
	char text[24];

	(void)state;
	snprintf(text, sizeof(text), "0123456789012345 key=a");
	assert_true(redact_line(text, sizeof(text)));
	assert_string_equal(text, "0123456789012345 key=(r");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(secrets_go),
		cmocka_unit_test(other_text_stays),
		cmocka_unit_test(long_lines),
	};

	return RUN(tests);
}
