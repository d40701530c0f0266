// SPDX-License-Identifier: GPL-2.0-only
/* lib/redact.c: secrets in configuration, logs and JSON are replaced, and nothing else is. */
#include <stdio.h>

#include "lib/redact.h"
#include "unit.h"

static const char *redacted(const char *line)
{
	struct redaction redaction = { 0 };
	static char text[256];

	snprintf(text, sizeof(text), "%s", line);
	redact_line(&redaction, text, sizeof(text));
	return text;
}

static void secrets_go(void **state)
{
	static const char *const row[][2] = {
		{ "secret = hunter2\n", "secret = (removed)\n" },
		{ "dhchap_secret=abc,next=1", "dhchap_secret=(removed)" },
		{ "x dhchap_secret=abc,next=1", "x dhchap_secret=(removed),next=1" },
		{ "PASSWORD: \"two words\"", "PASSWORD: \"(removed)\"" },
		{ "PASSWORD: two words\n", "PASSWORD: (removed)\n" },
		{ "  PASSWORD = it's two, or \"three\"\n", "  PASSWORD = (removed)\n" },
		{ "line 3: secret = two words", "line 3: secret = (removed)" },
		{ "  \"authToken\": \"a \\\" b\", \"c\": 1", "  \"authToken\": \"(removed)\", \"c\": 1" },
		{ "\"text\": \"x --key \\\"a b\\\" y\"", "\"text\": \"x --key \\\"(removed)\\\" y\"" },
		{ "get /x?apikey=abc&b=c HTTP", "get /x?apikey=(removed) HTTP" },
		{ "-H 'Authorization: Bearer abc.def' url", "-H 'Authorization: (removed)' url" },
		{ "sent Bearer abc.def to x", "sent Bearer (removed) to x" },
		{ "run --password x --user y", "run --password (removed) --user y" },
		{ "run --password 'two words' y", "run --password '(removed)' y" },
		{ "https://ghp_token@host/x", "https://(removed)@host/x" },
		{ "https://me:p@w@host/x", "https://(removed)@host/x" },
		{ "client-key-data: LS0t", "client-key-data: (removed)" },
		{ "-----BEGIN PRIVATE KEY-----\\nabc\\n-----END PRIVATE KEY-----\"", "(removed)-----END PRIVATE KEY-----\"" },
		{ "  \"api-token\": \"t0p\",", "  \"api-token\": \"(removed)\"," },
		{ "\tkey = AQBSdFhm8Ud1GBAAc2Vjcm V0", "\tkey = (removed)" },
		{ "x AQBSdFhmAAAAABAAc2VjcmV0c2VjcmV0c2VjAA== y", "x (removed) y" },
		{ "opts name=admin,AQBSdFhmAAAAABAAc2VjcmV0c2VjcmV0c2VjAA==", "opts name=admin,(removed)" },
		{ "peer DHHC-1:00:c2VjcmV0: refused", "peer (removed) refused" },
		{ "psk NVMeTLSkey-1:01:abc:", "psk (removed)" },
		{ "origin https://me:pw@host/x and a", "origin https://(removed)@host/x and a" },
		{ "x key=a key=b", "x key=(removed) key=(removed)" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct redaction redaction = { 0 };
		char text[256];

		snprintf(text, sizeof(text), "%s", row[i][0]);
		assert_true(redact_line(&redaction, text, sizeof(text)));
		assert_string_equal(text, row[i][1]);
		/* A second pass changes nothing. */
		assert_false(redact_line(&redaction, text, sizeof(text)));
	}
}

static void other_text_stays(void **state)
{
	static const char *const line[] = {
		"", "secret-file = /etc/nearcache/cluster.secret", "secret", "key:",
		"imagenet /dev/disk/by-id/nvme-uuid.3d0b UUID=ffc45aad-60bf-42f0-88b9-7283dbfab37d _netdev",
		"0 2048 nearcache read-only 259:1 259:2", "http://127.0.0.1:9417/metrics",
		"secrets are not here", "AQ==", "//a:b/c@d", "// a@b", "-----BEGIN CERTIFICATE-----", "basic",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(line) / sizeof(line[0]); i++)
		assert_string_equal(redacted(line[i]), line[i]);
}

/* A line that fills its buffer is cut, and never written beyond it. */
static void long_lines(void **state)
{
	struct redaction redaction = { 0 };
	char text[24];

	(void)state;
	snprintf(text, sizeof(text), "0123456789012345 key=a");
	assert_true(redact_line(&redaction, text, sizeof(text)));
	assert_string_equal(text, "0123456789012345 key=(r");
}

/* Each line of a private key goes, and what follows stays. */
static void keys_of_several_lines(void **state)
{
	static const char *const row[][2] = {
		{ "-----BEGIN RSA PRIVATE KEY-----\n", "(removed)\n" },
		{ "MIIEowIBAAKCAQEA\n", "(removed)\n" },
		{ "-----END RSA PRIVATE KEY-----\n", "(removed)-----END RSA PRIVATE KEY-----\n" },
		{ "MIIEowIBAAKCAQEA\n", "MIIEowIBAAKCAQEA\n" },
	};
	struct redaction redaction = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		char text[256];

		snprintf(text, sizeof(text), "%s", row[i][0]);
		redact_line(&redaction, text, sizeof(text));
		assert_string_equal(text, row[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(secrets_go),
		cmocka_unit_test(other_text_stays),
		cmocka_unit_test(long_lines),
		cmocka_unit_test(keys_of_several_lines),
	};

	return RUN(tests);
}
