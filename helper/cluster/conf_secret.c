// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/conf_secret.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/error.h"

#define LETTERS	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS	"0123456789"

/* True for DHHC-1:HH:BASE64: with a key of 32, 48 or 64 bytes and its checksum. */
static bool is_secret(const char *text)
{
	size_t length;

	if (strncmp(text, "DHHC-1:0", 8) || text[8] < '0' || text[8] > '3' || text[9] != ':')
		return false;
	text += 10;
	length = strspn(text, LETTERS DIGITS "+/");
	length += strspn(text + length, "=");
	return (length == 48 || length == 72 || length == 92) && text[length] == ':' &&
	       !text[length + 1];
}

static int read_secret(struct cluster_conf *conf, int fd)
{
	char text[CLUSTER_SECRET + 2];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st))
		return fail_errno(errno, "cannot look at '%s'", conf->secret_file);
	if (!S_ISREG(st.st_mode))
		return fail(CODE_USAGE, "'%s' is not a regular file: secret-file of '%s' must name a file with the secret",
			    conf->secret_file, conf->path);
	if (st.st_uid && st.st_uid != geteuid())
		return fail(CODE_PERMISSION, "'%s' belongs to user id %u, who can read the secret and replace it: 'chown root %s', and make a new secret",
			    conf->secret_file, st.st_uid, conf->secret_file);
	if (st.st_mode & 077)
		return fail(CODE_PERMISSION, "'%s' has mode %04o, so that others than its owner may read the secret: 'chmod 600 %s', and make a new secret if others had access",
			    conf->secret_file, st.st_mode & 07777, conf->secret_file);
	n = read(fd, text, sizeof(text) - 1);
	if (n < 0)
		return fail_errno(errno, "cannot read '%s'", conf->secret_file);
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if ((size_t)n > strlen(text) + 1 || !is_secret(text))
		return fail(CODE_USAGE, "'%s' must be one line of the form DHHC-1:00:...: : 'nvme gen-dhchap-key >%s' writes a new one; copy it to all nodes",
			    conf->secret_file, conf->secret_file);
	strcpy(conf->secret, text);
	return 0;
}

/* Read the secret, if the file names one. */
int cluster_conf_secret(struct cluster_conf *conf)
{
	int fd;

	if (!*conf->secret_file)
		return 0;
	fd = open(conf->secret_file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return fail_errno(errno, "cannot open '%s', the secret-file of '%s'",
				  conf->secret_file, conf->path);
	read_secret(conf, fd);
	close(fd);
	return fail_code();
}
