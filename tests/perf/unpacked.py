"""Peers whose packages were unpacked into a folder (`make peers`): how their drivers run, and what versions they are of.

A driver then has the C library of the folder, and sees the files of an Arm machine with the emulated CPU: libraries ask
the system which core they are on, and choose kernels by it."""
import os
import re
from fnmatch import fnmatch

# implementer and part of a core, as its MIDR has them; revisions as the emulator has them
PARTS = {'neoverse-n1': 0x414fd0c1, 'cortex-a53': 0x410fd034, 'neoverse-n2': 0x410fd490,
         'cortex-a55': 0x412fd050}
SHARED = ('usr', 'lib', 'etc')
LIBRARIES = os.path.join('usr', 'lib', 'aarch64-linux-gnu')
# What is loaded with every program says nothing about a peer.
COMMON = ('libc6', 'libstdc++6', 'libgcc-s1')


def cpuinfo(part):
    fields = {'processor': 0, 'BogoMIPS': '50.00', 'CPU implementer': f'0x{part >> 24:02x}', 'CPU architecture': 8,
              'CPU variant': f'0x{part >> 20 & 15:x}', 'CPU part': f'0x{part >> 4 & 0xfff:03x}',
              'CPU revision': part & 15}
    return ''.join(f'{key}\t: {value}\n' for key, value in fields.items()) + '\n'


def files_of(core):
    """What programs read to learn which cores there are: one of this kind."""
    cpus = 'sys/devices/system/cpu'
    return {'proc/cpuinfo': cpuinfo(PARTS[core]), f'{cpus}/possible': '0\n', f'{cpus}/present': '0\n',
            f'{cpus}/online': '0\n', f'{cpus}/kernel_max': '0\n',
            f'{cpus}/cpu0/regs/identification/midr_el1': f'0x{PARTS[core]:016x}\n'}


def machine(root, core):
    """A folder that looks like the root of a machine with such cores; its libraries are those of `root`."""
    folder = os.path.join(os.path.abspath(root) + '.machines', core)
    for name, text in files_of(core).items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='ascii') as file:
            file.write(text)
    for name in SHARED:
        link = os.path.join(folder, name)
        if not os.path.islink(link):
            os.symlink(os.path.join(os.path.abspath(root), name), link)
    return folder


def library_path(root, name):
    """The file of a shared library; alternatives have links beside it."""
    return os.path.realpath(os.path.join(root, LIBRARIES, name))


def package_of(root, path):
    """'name version' of the package that a file of the folder is of; nothing for those that all programs load."""
    inside = './' + os.path.relpath(path, os.path.realpath(root))
    folder = os.path.join(root, '.unpacked')
    for stamp in sorted(os.listdir(folder)):
        if not fnmatch(stamp, '*.deb'):
            continue
        with open(os.path.join(folder, stamp), encoding='utf-8') as file:
            if inside in file.read().splitlines():
                name, version, _ = stamp.split('_')
                return '' if name in COMMON else f'{name} {re.sub("^[0-9]+%3a", "", version)}'
    return ''
