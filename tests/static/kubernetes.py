# SPDX-License-Identifier: GPL-2.0-only
# kubernetes.py FOLDER OUT: check the manifests in FOLDER, and write the files of the ConfigMap to OUT.
import os
import pathlib
import re
import subprocess
import sys

import jsonschema
import yaml

folder, out = map(pathlib.Path, sys.argv[1:])
top = pathlib.Path(os.environ["TOP"])
kinds = yaml.safe_load((top / "tests/static/kubernetes.yaml").read_text())["$defs"]
objects = {}


def demand(true, text):
    if not true:
        sys.exit(text)


for path in sorted(folder.glob("*.yaml")):
    for document in yaml.safe_load_all(path.read_text()):
        kind = document["kind"]
        validator = jsonschema.Draft7Validator({"$ref": f"#/$defs/{kind[0].lower()}{kind[1:]}", "$defs": kinds})
        errors = list(validator.iter_errors(document))
        for error in errors:
            print(f"{path}: {'/'.join(map(str, error.absolute_path))}: {error.message}")
        if errors:
            sys.exit(1)
        objects[kind] = document

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
said = subprocess.run([os.environ["BUILD"] + "/helper/nearcache", "--version"], stdout=subprocess.PIPE, text=True, check=True)
version = said.stdout.split()[1]
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
demand(f"obj-m := {loader['modprobe']['moduleName']}.o" in (top / "Kbuild").read_text(), "no such module")
mapping = loader["kernelMappings"][0]
for release, wanted in {"6.1.0-37-amd64": 1, "6.12.30+bpo-cloud-amd64": 1, "6.18.1-amd64": 0, "6.1.0-37-arm64": 0}.items():
    demand(bool(re.search(mapping["regexp"], release)) == wanted, f"regexp and kernel {release}")
demand(mapping["containerImage"].endswith("-kmod:${KERNEL_FULL_VERSION}"), "the image is not that of the kernel")
for name, text in config["data"].items():
    (out / name).write_text(text)
