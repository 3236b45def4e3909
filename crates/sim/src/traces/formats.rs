//! The formats, one file or folder each, and the list of them.
//!
//! A format is one file here and its line in `formats!`. Names for `--format`, help, recognition, readers and writers
//! all come from that list.

mod prelude;

use crate::traces::format_info::{About, Code};

macro_rules! formats {
    ($($variant:ident = $module:ident: $doc:literal;)+) => {
        $(pub(crate) mod $module;)+

        /// The formats that can be read. [`Format::ALL`] lists them.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Format {
            $(#[doc = $doc] $variant,)+
        }

        impl Format {
            /// Every format.
            pub const ALL: &'static [Format] = &[$(Format::$variant),+];

            /// What it is called and what it tells.
            pub const fn about(self) -> &'static About {
                match self { $(Format::$variant => &$module::ABOUT,)+ }
            }

            pub(crate) const fn code(self) -> &'static Code {
                match self { $(Format::$variant => &$module::CODE,)+ }
            }
        }
    };
}

formats! {
    Idlewise = own: "idlewise's own comma-separated text.";
    Recording = recording: "What `idlewise record` writes, binary.";
    Ops = ops: "What happened to a queue, as golden files have it.";
    Blktrace = blktrace: "Linux blktrace, binary.";
    Blkparse = blkparse: "What blkparse prints of it.";
    Ftrace = ftrace: "Block events as ftrace, trace-cmd and perf print them.";
    FioV2 = fio: "fio's log, version 2: waits between requests.";
    FioV3 = fio3: "fio's log, version 3: a time for each request.";
    Msr = msr: "Microsoft Research Cambridge.";
    Spc = spc: "Storage Performance Council.";
    Alibaba = alibaba: "Alibaba's block storage.";
    Tencent = tencent: "Tencent's block storage.";
    Systor = systor: "SYSTOR'17: a company's virtual desktops.";
    Vscsi = vscsi: "VMware's vscsiStats, binary.";
    CloudPhysics = cloudphysics: "CloudPhysics, as text.";
    Fiu = fiu: "Florida International University.";
    Disksim = disksim: "DiskSim's default.";
    Drive = disksim_validation: "DiskSim's validation traces: measured drives.";
    Mqsim = mqsim: "MQSim.";
    OracleGeneral = oracle_general: "libCacheSim's oracleGeneral, binary: recognised and refused.";
}

impl Format {
    /// What `--format` calls it.
    pub const fn name(self) -> &'static str {
        self.about().name
    }

    /// The format that `--format` calls `name`.
    pub fn by_name(name: &str) -> Option<Format> {
        Format::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// All names, separated by commas.
    pub fn names() -> String {
        let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        names.join(", ")
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_again() {
        for &format in Format::ALL {
            assert_eq!(Format::by_name(format.name()), Some(format));
            assert_eq!(format.about().writable, format.code().encode.is_some(), "{format}");
        }
        assert_eq!(Format::by_name("nonesuch"), None);
    }
}
