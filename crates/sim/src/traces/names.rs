//! Names seen in a trace: devices and processes, in tables of bounded size.

use idlewise_core::{Group, Issuer};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// Devices that get an index of their own. Further ones share the last, `(others)`.
pub(crate) const MAX_DEVICES: usize = 65_536;

/// Processes whose names are kept. Further ones are known by their number alone.
const MAX_PROCESSES: usize = 4096;

/// Processes whose parents are known. Further ones have no group.
const MAX_GROUPS: usize = 65_536;

/// Longest name kept, in bytes.
const MAX_NAME: usize = 256;

/// Devices by the order in which they appear.
pub(crate) struct Devices {
    names: Vec<String>,
    numbers: HashMap<u64, Option<u32>, Mixer>,
    texts: HashMap<Box<[u8]>, Option<u32>>,
    /// The last device asked for; most traces keep to one for long.
    last_number: Option<(u64, Option<u32>)>,
    last_text: (Vec<u8>, Option<u32>),
    wanted: Option<Vec<String>>,
    /// Rows whose device found no index of its own.
    pub(crate) crowded: u64,
    /// Numbers, such as `8:0`, of devices that the trace calls otherwise, by name.
    aliases: Vec<(String, String)>,
    /// Names of devices that were not wanted, for the message when nothing is left.
    pub(crate) unwanted: Vec<String>,
}

impl Devices {
    /// Keeps the devices named in `wanted`; all if `None`.
    pub(crate) fn new(wanted: Option<Vec<String>>) -> Devices {
        Devices {
            names: Vec::new(),
            numbers: HashMap::with_hasher(Mixer::new()),
            texts: HashMap::new(),
            last_number: None,
            last_text: (Vec::new(), None),
            wanted,
            crowded: 0,
            aliases: Vec::new(),
            unwanted: Vec::new(),
        }
    }

    /// Lets the device called `name` be wanted by its `number` too.
    pub(crate) fn alias(&mut self, name: &str, number: &str) {
        self.aliases.push((name.to_owned(), number.to_owned()));
    }

    /// Names by index.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The index of a device known by a number, which `name` spells out. `None` if not wanted.
    #[inline]
    pub(crate) fn number(&mut self, number: u64, name: impl FnOnce(u64) -> String) -> Option<u32> {
        if let Some((last, index)) = self.last_number
            && last == number
        {
            return index;
        }
        let index = match self.numbers.get(&number) {
            Some(&index) => index,
            None => {
                let index = self.add(name(number));
                if self.numbers.len() < MAX_DEVICES {
                    self.numbers.insert(number, index);
                }
                index
            }
        };
        self.last_number = Some((number, index));
        index
    }

    /// The index of a device known by its text, which `name` makes presentable. `None` if not wanted.
    #[inline]
    pub(crate) fn text(&mut self, text: &[u8], name: impl FnOnce(&[u8]) -> String) -> Option<u32> {
        if self.last_text.0 == text && !text.is_empty() {
            return self.last_text.1;
        }
        let text = &text[..text.len().min(MAX_NAME)];
        let index = match self.texts.get(text) {
            Some(&index) => index,
            None => {
                let index = self.add(name(text));
                if self.texts.len() < MAX_DEVICES {
                    self.texts.insert(text.into(), index);
                }
                index
            }
        };
        self.last_text.0.clear();
        self.last_text.0.extend_from_slice(text);
        self.last_text.1 = index;
        index
    }

    /// Whether `wanted` is the device's name or number.
    fn stands_for(&self, wanted: &str, name: &str) -> bool {
        let mut numbers = self.aliases.iter().filter(|(of, _)| of == name);
        is_called(name, wanted) || numbers.any(|(_, number)| is_called(number, wanted))
    }

    #[cold]
    fn add(&mut self, name: String) -> Option<u32> {
        if let Some(wanted) = &self.wanted
            && !wanted.iter().any(|wanted| self.stands_for(wanted, &name))
        {
            if self.unwanted.len() < 8 && !self.unwanted.contains(&name) {
                self.unwanted.push(name);
            }
            return None;
        }
        // A name that was already met under another key; past a few, looking for it costs too much.
        if self.names.len() < 64
            && let Some(at) = self.names.iter().position(|known| *known == name)
        {
            return Some(at as u32);
        }
        if self.names.len() >= MAX_DEVICES {
            self.crowded += 1;
            return Some(MAX_DEVICES as u32 - 1);
        }
        let name = if self.names.len() + 1 == MAX_DEVICES { "(others)".to_owned() } else { name };
        self.names.push(name);
        Some(self.names.len() as u32 - 1)
    }
}

/// Whether `wanted` stands for the device called `name`: its name, `major:minor` also with a comma, or the number that
/// the two make in a kernel's `dev_t`.
fn is_called(name: &str, wanted: &str) -> bool {
    let pair = |text: &str| {
        let (major, minor) = text.split_once([':', ','])?;
        Some((major.parse::<u64>().ok()?, minor.parse::<u64>().ok()?))
    };
    let number = |text: &str| text.parse::<u64>().ok().map(|number| (number >> 20, number & 0xf_ffff));
    // A plain number is a number of a pair only where the trace has pairs.
    name == wanted || pair(name).is_some_and(|own| pair(wanted).or_else(|| number(wanted)) == Some(own))
}

/// Names and groups of processes, by number.
pub(crate) struct Processes {
    names: HashMap<u32, String, Mixer>,
    groups: HashMap<u32, Group, Mixer>,
    last: Option<u32>,
}

impl Default for Processes {
    fn default() -> Self {
        let groups = HashMap::with_hasher(Mixer::new());
        Processes { names: HashMap::with_hasher(Mixer::new()), groups, last: None }
    }
}

impl Processes {
    /// Notes that `pid` is called `name`. A process that is renamed keeps its last name.
    #[inline]
    pub(crate) fn note(&mut self, pid: u32, name: &[u8]) {
        if self.last != Some(pid) {
            self.last = Some(pid);
            let known = self.names.get(&pid).is_some_and(|known| known.as_bytes() == name);
            if !known && !name.is_empty() {
                self.insert(pid, name);
            }
        }
    }

    /// The same, of a process that may just have been noted under another name.
    pub(crate) fn rename(&mut self, pid: u32, name: &[u8]) {
        self.last = None;
        self.note(pid, name);
    }

    /// The same for a name that `plain` has to decode, which is done once for each process.
    #[inline]
    pub(crate) fn note_escaped(&mut self, pid: u32, name: &[u8], plain: impl FnOnce(&[u8]) -> String) {
        if self.last != Some(pid) {
            self.last = Some(pid);
            if !self.names.contains_key(&pid) {
                self.insert(pid, plain(&name[..name.len().min(MAX_NAME)]).as_bytes());
            }
        }
    }

    fn insert(&mut self, pid: u32, name: &[u8]) {
        if self.names.len() >= MAX_PROCESSES && !self.names.contains_key(&pid) {
            return;
        }
        let name = crate::traces::error::shown(&name[..name.len().min(MAX_NAME)], 64);
        self.names.insert(pid, name);
    }

    /// Notes that `parent` started `child`. Both belong to the parent's chain from now on.
    pub(crate) fn forked(&mut self, parent: u32, child: u32) {
        for pid in [parent, child] {
            if self.groups.len() < MAX_GROUPS || self.groups.contains_key(&pid) {
                self.groups.insert(pid, Group(parent));
            }
        }
    }

    /// The chain that `issuer` belongs to, if known.
    #[inline]
    pub(crate) fn group(&self, issuer: Issuer) -> Option<Group> {
        if self.groups.is_empty() { None } else { self.groups.get(&issuer.0).copied() }
    }

    /// What `pid` is called, if known.
    pub(crate) fn name(&self, pid: u32) -> Option<&str> {
        self.names.get(&pid).map(String::as_str)
    }
}

/// A fast hash for numbers, seeded so that no trace can be made to collide on purpose.
#[derive(Clone)]
pub(crate) struct Mixer {
    seed: u64,
}

impl Mixer {
    pub(crate) fn new() -> Mixer {
        Mixer { seed: RandomState::new().hash_one(0u64) }
    }
}

impl BuildHasher for Mixer {
    type Hasher = Mixed;

    #[inline]
    fn build_hasher(&self) -> Mixed {
        Mixed { state: self.seed }
    }
}

/// A number being hashed: the high and low half of a 128-bit product, folded.
pub(crate) struct Mixed {
    state: u64,
}

impl Hasher for Mixed {
    #[inline]
    fn finish(&self) -> u64 {
        self.state
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        let product = u128::from(value ^ self.state) * u128::from(self.state | 0x9e37_79b9_7f4a_7c15);
        self.state = (product as u64 ^ (product >> 64) as u64).rotate_left(23);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_keep_their_index_and_unwanted_ones_have_none() {
        let mut devices = Devices::new(Some(vec!["8:0".into(), "hm_1".into()]));
        assert_eq!(devices.number(1, |_| "8:16".into()), None);
        assert_eq!(devices.number(2, |_| "8:0".into()), Some(0));
        assert_eq!(devices.text(b"hm,1", |_| "hm_1".into()), Some(1));
        assert_eq!(devices.number(2, |_| unreachable!()), Some(0));
        assert_eq!(devices.number(1, |_| unreachable!()), None);
        assert_eq!(devices.names(), ["8:0", "hm_1"]);
        assert_eq!(devices.unwanted, ["8:16"]);
    }

    #[test]
    fn devices_are_known_by_name_and_by_number() {
        for wanted in ["8:16", "8,16", "8388624"] {
            assert!(is_called("8:16", wanted), "{wanted}");
            assert!(!is_called("8:0", wanted), "{wanted}");
        }
        assert!(is_called("hm_1", "hm_1") && !is_called("hm_1", "1"));
        assert!(is_called("1283", "1283") && !is_called("1283", "0:1283"));
    }

    #[test]
    fn the_tables_are_bounded() {
        let mut devices = Devices::new(None);
        for number in 0..MAX_DEVICES as u64 + 10 {
            devices.number(number, |n| n.to_string());
        }
        assert_eq!(devices.names().len(), MAX_DEVICES);
        assert_eq!(devices.names().last().unwrap(), "(others)");
        assert_eq!(devices.crowded, 10);
        let mut processes = Processes::default();
        for pid in 0..10_000 {
            processes.note(pid, b"x");
        }
        assert_eq!(processes.names.len(), MAX_PROCESSES);
    }
}
