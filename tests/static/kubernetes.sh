#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# The Kubernetes manifests have the schema in kubernetes.yaml, agree with each other and with the
# sources, and their files for /etc/nearcache are valid. A broken copy of each rule is refused.
set -uo pipefail
# shellcheck source=tests/tap.sh
# shellcheck disable=SC2317 # functions that check() calls
. "$TOP/tests/tap.sh"
cd "$TOP/helper/packaging/kubernetes" || exit
dir=$BUILD/static/kubernetes
rm -rf "$dir"
mkdir -p "$dir"

# judge FOLDER: check the manifests in the folder.
judge() {
	/usr/bin/python3 -c "$(sed '1,/^: python/d' "$TOP/tests/static/kubernetes.sh")" "$TOP/tests/static/kubernetes.yaml" "$1" "$dir"
}

# refused FILE SED: fail if the manifests are accepted although SED has changed FILE.
refused() {
	rm -rf "$dir/broken" && mkdir "$dir/broken" && cp ./*.yaml "$dir/broken" &&
		sed -i "$2" "$dir/broken/$1" && ! cmp -s "$1" "$dir/broken/$1" || return
	! judge "$dir/broken" || { echo "accepted: $2"; return 1; }
}

rules() {
	refused daemonset.yaml 's/hostPID:/hostPIDs:/' &&
		refused daemonset.yaml 's/privileged: true/privileged: "true"/' &&
		refused daemonset.yaml 's/type: Directory}/type: Folder}/' &&
		refused daemonset.yaml '/apiVersion/d' &&
		refused daemonset.yaml 's/{name: bpf, m/{name: bfp, m/' &&
		refused daemonset.yaml 's/nearcache.nearcache.ready/nearcache.ready/' &&
		refused daemonset.yaml 's/port: 9435/port: 9436/' &&
		refused daemonset.yaml 's/nearcache:0[.0-9]*/nearcache:7.0/' &&
		refused daemonset.yaml 's/^  namespace: .*/  namespace: other/' &&
		refused module.yaml 's/kernelMappings/kernelMapping/' &&
		refused module.yaml 's/dm-nearcache/dm-farcache/' &&
		refused config.yaml 's/  name: nearcache$/  name: Near_Cache/'
}

# The table has a comment in place of a line; without its sign the line is valid.
table() {
	sed -n 's/^# //p' "$dir/nearcachetab" >"$dir/tab"
	grep -q '^imagenet ' "$dir/tab" && mkdir "$dir/units" &&
		"$BUILD/helper/nearcache-generator" "$dir/units" "$dir/units" "$dir/units" "$dir/tab" /dev/null &&
		grep -qx 'TimeoutStartSec=220' "$dir/units/nearcache@imagenet.service.d/50-nearcachetab.conf"
}

# The daemon accepts all lines before one that it cannot accept.
configuration() {
	local said
	echo 'last = 1' | cat "$dir/nearcache.conf" - >"$dir/conf"
	said=$(timeout 60 "$BUILD/helper/nearcached" --config "$dir/conf" 2>&1)
	[[ $said == *"line $(wc -l <"$dir/conf"): 'last' is not a setting"* ]] || { echo "$said"; return 1; }
}

# sources: each file that the Containerfile copies from the source exists.
sources() {
	local word words
	while read -r -a words; do
		for word in "${words[@]:1:${#words[@]}-2}"; do
			compgen -G "$TOP/$word" >/dev/null || { echo "no $word"; return 1; }
		done
	done < <(grep '^COPY [^-]' Containerfile)
	grep -q "/nearcache:$1 " Containerfile
}

check 'the manifests are valid and agree' judge .
check 'broken manifests are refused' rules
check 'the example in nearcachetab' table
check 'nearcache.conf' configuration
check 'the Containerfile copies files of the source' sources "$("$BUILD/helper/nearcache" --version | awk '{ print $2 }')"
finish
: python
import os, pathlib, re, subprocess, sys
import jsonschema, yaml
schema, folder, out = map(pathlib.Path, sys.argv[1:])
kinds = yaml.safe_load(schema.read_text())["$defs"]
objects = {}
for path in sorted(folder.glob("*.yaml")):
    for document in yaml.safe_load_all(path.read_text()):
        kind = document["kind"]
        validator = jsonschema.Draft202012Validator({"$ref": f"#/$defs/{kind[0].lower()}{kind[1:]}", "$defs": kinds})
        errors = list(validator.iter_errors(document))
        for error in errors:
            print(f"{path}: {'/'.join(map(str, error.absolute_path))}: {error.message}")
        if errors:
            sys.exit(1)
        objects[kind] = document

def demand(true, text):
    if not true:
        sys.exit(text)

space, config, pods, module = (objects[kind] for kind in ("Namespace", "ConfigMap", "DaemonSet", "Module"))
for document in (config, pods, module):
    demand(document["metadata"]["namespace"] == space["metadata"]["name"], f"{document['kind']}: another namespace")
template = pods["spec"]["template"]
pod = template["spec"]
demand(pods["spec"]["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items(),
       "the selector does not match the labels of the pods")
label = f"kmm.node.kubernetes.io/{module['metadata']['namespace']}.{module['metadata']['name']}.ready"
demand(pod["nodeSelector"] == {label: ""}, f"nodeSelector is not {label}")
volumes = {volume["name"]: volume for volume in pod["volumes"]}
version = subprocess.run([os.environ["BUILD"] + "/helper/nearcache", "--version"], stdout=subprocess.PIPE, text=True).stdout.split()[1]
for container in pod["initContainers"] + pod["containers"]:
    mounts = container["volumeMounts"]
    demand({mount["name"] for mount in mounts} == volumes.keys(), f"{container['name']}: the mounts are not the volumes")
    demand(len({mount["mountPath"] for mount in mounts}) == len(mounts), "two mounts at one place")
    demand(container["image"].endswith(f"/nearcache:{version}"), f"{container['image']} is not version {version}")
demand(volumes["config"]["configMap"]["name"] == config["metadata"]["name"], "no such ConfigMap")
probe = pod["containers"][0]["livenessProbe"]["httpGet"]
listen = re.search(r"^metrics-listen = (\S+):(\d+)$", config["data"]["nearcache.conf"], re.M)
demand(listen and listen.groups() == (probe["host"], str(probe["port"])), "the probe is not for metrics-listen")
loader = module["spec"]["moduleLoader"]["container"]
demand(f"obj-m := {loader['modprobe']['moduleName']}.o" in open("../../../Kbuild").read(), "no such module")
mapping = loader["kernelMappings"][0]
for release, wanted in {"6.1.0-37-amd64": 1, "6.12.30+bpo-cloud-amd64": 1, "6.18.1-amd64": 0, "6.1.0-37-arm64": 0}.items():
    demand(bool(re.search(mapping["regexp"], release)) == wanted, f"regexp and kernel {release}")
demand(mapping["containerImage"].endswith("-kmod:${KERNEL_FULL_VERSION}"), "the image is not that of the kernel")
for name, text in config["data"].items():
    (out / name).write_text(text)
