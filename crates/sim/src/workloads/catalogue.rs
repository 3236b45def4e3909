//! The named workloads, each with its options, declared once.

use super::ioaz::{ioaz, iozone};
use super::makers::{
    adversary, drawn, phases, poisson, queues, random, stream_and_chain, sync_streams, two_chains,
    write_and_read,
};
use super::{Ground, Named, Options, Spec, SpecError};
use crate::machine::workload as machine;

/// A named workload.
pub struct Kind {
    /// The workload's name.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub summary: &'static str,
    /// The workload's options: name, default, meaning.
    pub options: &'static [(&'static str, &'static str, &'static str)],
    make: Make,
}

type Make = fn(&Options<'_>, Ground) -> Result<Box<dyn Named>, SpecError>;

/// Options of workloads with chains, and more of their own.
macro_rules! chain_options {
    ($($own:expr,)*) => { &[
        $($own,)*
        ("files", "16000", "files in a tree: as many as in Linux 2.6.9"),
        ("directories", "1000", "directories in a tree; each has as many files"),
        ("groups", "4", "block groups of 128 MiB over which they spread"),
        ("median", "6k", "median size of a file; sizes are log-normal, in blocks of 4 KiB"),
        ("mean", "12k", "mean size of a file"),
        ("inodes", "32", "inodes in a block, which is read for the first of them"),
        ("order", "disk", "order in which a directory lists its files: disk, as they lie, or hash, as ext4 does"),
        ("block", "32k", "largest request in reading a file"),
        ("think", "100us", "time from a completion to the same process's next request, or to its exit"),
        ("exec", "500us", "time from a child's exit to the next one's first request: wait, fork, exec"),
        ("gap", "1g", "distance from the end of one file or tree to the start of the next"),
    ] };
}

/// Declares the workloads: the name of each, who builds it, its summary, its options.
macro_rules! kinds {
    ($($name:literal = $make:ident: $summary:literal, $options:expr;)+) => {
        static KINDS: &[Kind] = &[$(Kind { name: $name, summary: $summary, options: $options, make: $make }),+];
    };
}

kinds! {
    "poisson" = poisson: "Open arrivals at random times, uniform over the whole disk.", &[
        ("rate", "100", "mean arrivals in a second"),
        ("reads", "67", "reads in a hundred requests"),
        ("min", "4k", "smallest request"),
        ("max", "64k", "largest request"),
        ("step", "4k", "sizes and addresses are multiples of this"),
        ("requests", "100000", "how many requests"),
    ];
    "random" = random: "Processes that read or write at random, each waiting for its requests.", &[
        ("n", "8", "processes"),
        ("depth", "1", "requests that each keeps outstanding"),
        ("bs", "4k", "request size"),
        ("reads", "100", "reads in a hundred requests"),
        ("think", "200us", "time from a completion to the next request"),
        ("dist", "fixed", "how think times spread: fixed, or uniform from 0 to think"),
        ("span", "100", "the share of the disk that is used, in percent"),
        ("requests", "10000", "requests of each process"),
    ];
    "sync-streams" = sync_streams: "Processes that each read a file of their own, by default one request at \
     a time (SOSP'01 §4.1).", &[
        ("n", "2", "processes"),
        ("pattern", "seq", "seq: every block; alternate: every other block; random"),
        ("depth", "1", "requests that each keeps outstanding; 1 is synchronous"),
        ("bs", "64k", "request size"),
        ("split", "1280k", "larger requests are split into parts of this size, all issued at once, as file \
         systems do"),
        ("file", "1g", "size of each file"),
        ("regions", "0", "size of the regions in which a file lies, each up to 1 MiB behind the one before; 0: it is whole"),
        ("gap", "8g", "distance from the end of one file to the start of the next"),
        ("think", "0ms", "time from a completion to the next request"),
        ("think2", "", "the same for the second process alone"),
        ("dist", "fixed", "how think times spread: fixed, or uniform from 0 to think"),
        ("weights", "100", "weight of each process, 1 to 10000, separated by colons; the last one repeats"),
        ("requests", "4000", "requests of each process"),
        ("runtime", "", "each process ends after this time; without requests= by nothing else"),
    ];
    "queues" = queues: "Processes that keep queues of different lengths.", &[
        ("depths", "1:4", "requests that each process keeps outstanding, separated by colons"),
        ("pattern", "random", "seq, alternate or random, each in its own part of the disk"),
        ("bs", "4k", "request size"),
        ("reads", "100", "reads in a hundred requests"),
        ("think", "0", "time from a completion to the next request"),
        ("requests", "10000", "requests of each process for each of its depth"),
    ];
    "drawn" = drawn: "One to four programs drawn at random, each with its own processes, sizes, depths, think times, start and \
     end: loads for which nobody has tuned a scheduler.", &[
        ("draw", "1", "which programs: each number draws others"),
        ("runtime", "20s", "how long it lasts; some programs come later or end sooner"),
    ];
    "write-and-read" = write_and_read: "dd writes without end beside cat, which reads a file; the end is \
     cat's (OLS'05 §5.4).", &[
        ("bs", "128k", "request size: what read-ahead and writeback make of a stream"),
        ("writes", "128", "write requests kept outstanding; nobody waits for them"),
        ("reads", "1", "read requests kept outstanding"),
        ("think", "100us", "reader's time from a completion to the next request"),
        ("file", "200m", "the file that is read, once"),
        ("written", "2g", "the file that is written, again and again"),
        ("gap", "1g", "distance from the end of the written file to the start of the other"),
    ];
    "stream-and-chain" = stream_and_chain: "cat reads a large file without end beside `find -type f -exec \
     cat {} ;`; the end is find's (OLS'05 §5.5).", chain_options! {
        ("stream", "2g", "the large file"),
        ("bs", "128k", "request size of the stream: a full read-ahead window"),
        ("depth", "1", "requests that the stream keeps outstanding; 2 if read-ahead runs one window ahead"),
    };
    "two-chains" = two_chains: "`find -type f -exec cat {} ;` over a tree of small files, twice over two \
     trees (OLS'05 §5.6).", chain_options! {
        ("chains", "2", "how many; 1 is what two are compared with"),
    };
    "adversary" = adversary: "Two processes that read on as soon as anticipation has given them up (SOSP'01 \
     §4.2.4).", &[
        ("n", "2", "rapid requests before each slow one; 0: all are slow"),
        ("pause", "", "the pause before the slow one. Without it: each is longer than a scheduler expects \
         that has seen the last, up to 15 ms, and so on from 600 us"),
        ("bs", "64k", "request size"),
        ("file", "1g", "size of each file"),
        ("regions", "0", "size of the regions in which a file lies, each up to 1 MiB behind the one before; 0: it is whole"),
        ("gap", "8g", "distance from the end of one file to the start of the next"),
        ("requests", "4000", "requests of each process"),
    ];
    "phases" = phases: "A load that changes: phases by time, each with processes of its own.", &[
        ("mix", "tour", "a named mix (`idlewise list mixes`), or kinds (`idlewise list phases`) with \
         seconds, separated by colons, such as seq-readers=10:mail=20"),
        ("length", "100", "how long phases are, in percent of what the mix says"),
        ("rounds", "1", "how often the mix is played"),
    ];
    "ioaz" = ioaz: "The four loads by which IOAZ's classification was validated (IOAZ §3.3).", &[
        ("pattern", "seq-read", "seq-read: cat of the whole device; seq-write: dd writes a large file; \
         random-read: dd reads blocks anywhere; random-write: ls -R updates access times"),
        ("runtime", "30s", "how long it lasts"),
    ];
    "iozone" = iozone: "Workers of IOzone, each with a file of its own (IOAZ §3.4).", &[
        ("n", "4", "workers"),
        ("pattern", "seq-read", "seq-read, seq-write, random-read or random-write; all: these one after the other, as many bytes each"),
        ("file", "512m", "size of each file"),
        ("record", "4k", "size of a record: of random requests"),
        ("window", "128k", "what read-ahead and writeback make of records in order"),
        ("requests", "100000000", "requests of each worker; with all: windows"),
    ];
    "machine" = machine: "A program on a machine with page cache, read-ahead and file system, such as those that the \
     papers ran.", &[
        ("program", "find", "dd-cat, stream-find, find, cp, readers, gnuld, select-one, select-two, update-one, update-two, \
         andrew, apache, apache-read, apache-mmap, web, file, mail, metadata, sqlite, sql-bench, iozone, \
         iozone-64k or bonnie"),
        ("machine", "", "freebsd-4.3, linux-2.6.9, linux-2.6.11, linux-2.6.32, debian12 or guest; without it the machine \
         of the program's paper"),
        ("n", "", "instances at once; without it as many as in the paper"),
        ("scale", "100", "sizes, counts and memory in percent of the paper's"),
        ("memory", "", "MiB of the page cache; without it the machine's own, scaled"),
    ];
}

/// All named workloads.
pub fn all() -> &'static [Kind] {
    KINDS
}

/// The workload called `name`.
pub fn find(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name.eq_ignore_ascii_case(name))
}

/// Builds the workload that `spec` names.
///
/// # Errors
/// [`SpecError`] if the name, an option or a value is wrong.
pub fn build(spec: &Spec, ground: Ground) -> Result<Box<dyn Named>, SpecError> {
    let kind = find(&spec.name).ok_or_else(|| SpecError::UnknownWorkload(spec.name.clone()))?;
    for (option, _) in &spec.options {
        if !kind.options.iter().any(|row| row.0 == option) {
            let known = kind.options.iter().map(|row| row.0).collect::<Vec<_>>().join(", ");
            let (workload, option) = (spec.name.clone(), option.clone());
            return Err(SpecError::UnknownOption { workload, option, known });
        }
    }
    (kind.make)(&Options { given: &spec.options, defaults: kind.options }, ground)
}
