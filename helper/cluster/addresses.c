// SPDX-License-Identifier: GPL-2.0-only
#include "cluster/addresses.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>

/*
 * Print the address in @sa. Returns false if it is neither IPv4 nor IPv6, or an IPv6 address that is
 * valid on one link only: nodes would need a scope (%eth0), which differs between them.
 */
static bool print_address(const struct sockaddr *sa, char *text)
{
	if (sa && sa->sa_family == AF_INET)
		return inet_ntop(AF_INET, &((const struct sockaddr_in *)sa)->sin_addr, text,
				 ADDRESS_TEXT);
	if (sa && sa->sa_family == AF_INET6 &&
	    !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)sa)->sin6_addr))
		return inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)sa)->sin6_addr, text,
				 ADDRESS_TEXT);
	return false;
}

/*
 * Store up to @room different addresses of a host name, or the address that @host is, in the order
 * of the system's resolver. Returns their number, which may exceed @room; 0: none, with @why.
 */
size_t address_resolve(const char *host, char (*address)[ADDRESS_TEXT], size_t room,
		       const char **why)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list, *one;
	int error = getaddrinfo(host, NULL, &hints, &list);
	char text[ADDRESS_TEXT];
	size_t count = 0, i;

	*why = "it has no address, or only one of a link (fe80:...), which needs a scope";
	if (error) {
		*why = error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error);
		return 0;
	}
	for (one = list; one; one = one->ai_next) {
		if (!print_address(one->ai_addr, text))
			continue;
		for (i = 0; i < count && i < room; i++)
			if (!strcmp(address[i], text))
				break;
		if (i < count && i < room)
			continue;
		if (count < room)
			strcpy(address[count], text);
		count++;
	}
	freeaddrinfo(list);
	return count;
}

/* True for 127.0.0.0/8 and ::1, which other machines cannot reach. */
bool address_is_loopback(const char *address)
{
	return !strncmp(address, "127.", 4) || !strcmp(address, "::1");
}

bool address_is_local(const char *address)
{
	struct ifaddrs *list, *one;
	char text[ADDRESS_TEXT];
	bool found = address_is_loopback(address);

	if (getifaddrs(&list))
		return found;
	for (one = list; one && !found; one = one->ifa_next)
		found = print_address(one->ifa_addr, text) && !strcmp(text, address);
	freeifaddrs(list);
	return found;
}
