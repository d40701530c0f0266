// SPDX-License-Identifier: GPL-2.0-only
/*
 * A network switch for guests: passes Ethernet frames between QEMUs with "-netdev stream", whose
 * socket is PATH. The last byte of a guest's MAC address is its number, 1 to 254.
 *
 *	switch PATH
 *
 * Each line of standard input is a command, answered with a line "ok"; the end of input ends the
 * switch:
 *	cut A B		drop the frames between guests A and B, in both directions
 *	heal A B	pass them again
 *	corrupt A N	swap two words in the data of each N-th large TCP segment that guest A sends
 *			from port 4420; 0: of none
 * TCP's checksum is the same for any order of the words, so it does not show a swap.
 * A guest that takes no frames, because it is stopped or gone, loses them; the others go on.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PORTS		32
#define GUESTS		255
#define FRAME_MAX	(68 << 10)	/* QEMU's NET_BUFSIZE */
#define QUEUE_SIZE	(2 << 20)

/* A frame on the socket: its length in network byte order, then its bytes. */
#define LENGTH_SIZE	4

/* One connected QEMU. @guest: its number; 0: it has sent no frame yet. */
static struct port {
	int fd;
	unsigned int guest;
	size_t in_size, out_size;
	uint8_t in[LENGTH_SIZE + FRAME_MAX];
	uint8_t out[QUEUE_SIZE];
} ports[PORTS];

/* Links that drop their frames, from one guest to another. */
static bool links_cut[GUESTS][GUESTS];

/* From each guest: swap words in each corrupt_each-th large segment; 0: never. */
static unsigned int corrupt_each[GUESTS], corrupt_next[GUESTS];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void port_close(struct port *port)
{
	close(port->fd);
	port->fd = -1;
}

static void port_write(struct port *port)
{
	ssize_t n = send(port->fd, port->out, port->out_size, MSG_DONTWAIT | MSG_NOSIGNAL);

	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		port_close(port);
		return;
	}
	if (n > 0) {
		port->out_size -= n;
		memmove(port->out, port->out + n, port->out_size);
	}
}

/* Only segments with this much data: they hold data of a read, and few headers of NVMe/TCP. */
#define CORRUPT_MIN	1024
#define NVME_PORT	4420

static unsigned int word16(const uint8_t *at)
{
	return at[0] << 8 | at[1];
}

/* Returns the data of a TCP segment over IPv4 from NVME_PORT, or NULL. @size: gets its length. */
static uint8_t *segment_data(uint8_t *frame, size_t length, size_t *size)
{
	uint8_t *ip = frame + 14, *tcp;
	size_t total, ip_header, tcp_header;

	if (length < 14 + 20 || word16(frame + 12) != 0x0800 || ip[9] != IPPROTO_TCP)
		return NULL;
	ip_header = (ip[0] & 15) * 4;
	total = word16(ip + 2);
	tcp = ip + ip_header;
	if (total > length - 14 || ip_header + 20 > total || word16(tcp) != NVME_PORT)
		return NULL;
	tcp_header = (tcp[12] >> 4) * 4;
	if (ip_header + tcp_header > total)
		return NULL;
	*size = total - ip_header - tcp_header;
	return tcp + tcp_header;
}

/* Swap two neighbouring words that differ, in the second half of the data. */
static void corrupt(uint8_t *frame, size_t length, unsigned int guest)
{
	size_t size, at;
	uint8_t *data, word[2];

	data = segment_data(frame, length, &size);
	if (!data || size < CORRUPT_MIN || ++corrupt_next[guest] < corrupt_each[guest])
		return;
	for (at = size / 4 * 2; at + 4 <= size; at += 2) {
		if (!memcmp(data + at, data + at + 2, 2))
			continue;
		memcpy(word, data + at, 2);
		memcpy(data + at, data + at + 2, 2);
		memcpy(data + at + 2, word, 2);
		corrupt_next[guest] = 0;
		return;
	}
}

/* Pass a frame, with its length in front, to the guest that it is for, or to all. */
static void pass(const struct port *from, const uint8_t *frame, size_t size)
{
	const uint8_t *to = frame + LENGTH_SIZE;
	struct port *port;

	for (port = ports; port < ports + PORTS; port++) {
		if (port->fd < 0 || port == from || (!(to[0] & 1) && to[5] != port->guest) ||
		    size > QUEUE_SIZE - port->out_size ||
		    links_cut[from->guest][port->guest])
			continue;
		memcpy(port->out + port->out_size, frame, size);
		port->out_size += size;
		port_write(port);
	}
}

static void port_read(struct port *port)
{
	ssize_t n = recv(port->fd, port->in + port->in_size, sizeof(port->in) - port->in_size,
			 MSG_DONTWAIT);
	size_t at = 0, size;
	struct port *other;
	uint32_t length;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		port_close(port);
		return;
	}
	port->in_size += n;
	for (; port->in_size - at >= LENGTH_SIZE; at += size) {
		memcpy(&length, port->in + at, LENGTH_SIZE);
		length = __builtin_bswap32(length);
		size = LENGTH_SIZE + length;
		if (length < 14 || length > FRAME_MAX) {
			fprintf(stderr, "switch: a frame of %u bytes\n", length);
			exit(1);
		}
		if (port->in_size - at < size)
			break;
		/* Source address: a guest that was started again replaces its earlier port. */
		port->guest = port->in[at + LENGTH_SIZE + 11] % GUESTS;
		for (other = ports; other < ports + PORTS; other++)
			if (other != port && other->fd >= 0 && other->guest == port->guest)
				port_close(other);
		if (corrupt_each[port->guest])
			corrupt(port->in + at + LENGTH_SIZE, length, port->guest);
		pass(port, port->in + at, size);
	}
	port->in_size -= at;
	memmove(port->in, port->in + at, port->in_size);
}

static void port_accept(int listener)
{
	int fd = accept(listener, NULL, NULL);
	struct port *port;

	if (fd < 0)
		return;
	for (port = ports; port < ports + PORTS; port++)
		if (port->fd < 0) {
			port->fd = fd;
			port->guest = 0;
			port->in_size = 0;
			port->out_size = 0;
			return;
		}
	close(fd);
}

static bool command(const char *line)
{
	unsigned int a, b;
	char verb[8];
	bool cut;

	if (sscanf(line, "%7s %u %u", verb, &a, &b) != 3 || a >= GUESTS || b >= GUESTS)
		return false;
	if (!strcmp(verb, "corrupt")) {
		corrupt_each[a] = b;
		puts("ok");
		return true;
	}
	cut = !strcmp(verb, "cut");
	if (!cut && strcmp(verb, "heal"))
		return false;
	links_cut[a][b] = cut;
	links_cut[b][a] = cut;
	puts("ok");
	return true;
}

/* Returns whether there is more input. */
static bool commands(void)
{
	static char text[4096];
	static size_t size;
	ssize_t n = read(STDIN_FILENO, text + size, sizeof(text) - 1 - size);
	char *line = text, *end;

	if (n <= 0)
		return false;
	size += n;
	text[size] = '\0';
	for (; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		if (!command(line))
			printf("bad command: %s\n", line);
	}
	fflush(stdout);
	size -= line - text;
	memmove(text, line, size);
	return true;
}

static int listen_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0 || strlen(path) >= sizeof(address.sun_path)) {
		errno = fd < 0 ? errno : ENAMETOOLONG;
		die(path);
	}
	strcpy(address.sun_path, path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, PORTS))
		die(path);
	return fd;
}

int main(int argc, char **argv)
{
	struct pollfd polled[PORTS + 2];
	int listener, i;

	if (argc != 2) {
		fputs("usage: switch PATH\n", stderr);
		return 2;
	}
	listener = listen_at(argv[1]);
	for (i = 0; i < PORTS; i++)
		ports[i].fd = -1;
	for (;;) {
		for (i = 0; i < PORTS; i++) {
			polled[i].fd = ports[i].fd;
			polled[i].events = POLLIN | (ports[i].out_size ? POLLOUT : 0);
			polled[i].revents = 0;
		}
		polled[PORTS] = (struct pollfd){ .fd = listener, .events = POLLIN };
		polled[PORTS + 1] = (struct pollfd){ .fd = STDIN_FILENO, .events = POLLIN };
		if (poll(polled, PORTS + 2, -1) < 0 && errno != EINTR)
			die("poll");
		for (i = 0; i < PORTS; i++) {
			if (ports[i].fd >= 0 && polled[i].revents & POLLOUT)
				port_write(&ports[i]);
			if (ports[i].fd >= 0 && polled[i].revents & (POLLIN | POLLHUP | POLLERR))
				port_read(&ports[i]);
		}
		if (polled[PORTS].revents)
			port_accept(listener);
		if (polled[PORTS + 1].revents && !commands())
			return 0;
	}
}
