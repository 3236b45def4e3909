//! The papers' programs, as values: which files are there, and what each process does.
//!
//! A program is one row here and one function below `programs/`, which makes its files and returns its jobs.

mod apache;
mod bonnie;
mod databases;
mod iozone;
mod links;
mod servers;
mod setting;
mod sqlbench;
mod streams;
mod trees;

use super::running::Job;
use setting::Full;
pub use setting::{Setting, Wish};

/// A program that machines run.
pub struct Row {
    /// The program's name in workloads.
    pub name: &'static str,
    /// What it is, and where it comes from.
    pub about: &'static str,
    /// The machine on which its paper ran it.
    pub machine: &'static str,
    /// How many instances run at once, if nothing is said.
    pub instances: u32,
    /// Makes its files and jobs.
    pub make: fn(&mut Setting) -> Result<Vec<Job>, Full>,
}

macro_rules! rows {
    ($($name:literal on $machine:literal, $instances:literal: $make:path, $about:literal;)+) => {
        /// All programs.
        pub const ALL: &[Row] = &[$(Row {
            name: $name, about: $about, machine: $machine, instances: $instances, make: $make,
        }),+];
    };
}

rows! {
    "dd-cat" on "linux-2.6.9", 1: streams::dd_beside_cat,
        "dd writes zeroes to a file without end, cat reads a file of 200 MB (OLS'05 §5.4)";
    "stream-find" on "linux-2.6.9", 1: streams::cat_beside_find,
        "cat reads a large file without end, find starts a cat for each file of a tree (OLS'05 §5.5)";
    "find" on "linux-2.6.9", 1: trees::find_exec_cat,
        "find starts a cat for each file of a tree, a tree for each instance (OLS'05 §5.6)";
    "cp" on "linux-2.6.9", 1: trees::copy_tree,
        "cp -r copies a tree, a tree for each instance";
    "readers" on "freebsd-4.3", 2: streams::readers,
        "processes read a file of 1 GB each in order, by read() of 64 KB (SOSP'01 §4.1)";
    "gnuld" on "freebsd-4.3", 2: links::link,
        "the last link of a kernel from 385 object files, a set for each instance (SOSP'01 §4.5)";
    "select-one" on "freebsd-4.3", 2: databases::select_one,
        "clients select records of one database of 780 MB at random (SOSP'01 §4.6)";
    "select-two" on "freebsd-4.3", 2: databases::select_each,
        "the same, each client from a database of its own (SOSP'01 §4.6, §4.7)";
    "update-one" on "freebsd-4.3", 2: databases::update_one,
        "clients update records of one database at random (SOSP'01 §4.6)";
    "update-two" on "freebsd-4.3", 2: databases::update_each,
        "the same, each client in a database of its own (SOSP'01 §4.6)";
    "sqlite" on "debian12", 1: databases::inserts,
        "sqlite inserts rows, each a transaction with a rollback journal";
    "sql-bench" on "linux-2.6.11", 1: sqlbench::run_all,
        "MySQL's sql-bench: tables made, filled, searched, changed and dropped (IOAZ §4.1)";
    "andrew" on "freebsd-4.3", 2: trees::andrew,
        "the Andrew benchmark: mkdir, cp, stat, scan, gcc; an instance is a client (SOSP'01 §4.3)";
    "apache" on "freebsd-4.3", 48: apache::as_it_comes,
        "Apache sends the files of a log, mapped below 4 MB and read above; an instance is a server process (SOSP'01 §4.4)";
    "apache-read" on "freebsd-4.3", 48: apache::by_read,
        "the same, each file read";
    "apache-mmap" on "freebsd-4.3", 48: apache::by_mmap,
        "the same, each file mapped";
    "web" on "linux-2.6.9", 4: servers::web,
        "FFSB's web server: threads read files at random (OLS'05 §5.7)";
    "file" on "linux-2.6.9", 4: servers::file,
        "FFSB's file server: four reads for each write (OLS'05 §5.8)";
    "mail" on "linux-2.6.9", 4: servers::mail,
        "FFSB's mail server: reads, creates, deletes 40:40:20 (OLS'05 §5.9)";
    "metadata" on "linux-2.6.9", 4: servers::metadata,
        "FFSB's metadata: creates, appends, deletes 40:40:20 (OLS'05 §5.10)";
    "iozone" on "linux-2.6.32", 5: iozone::small_records,
        "IOzone's tests one after the other, by records of 4 KB; an instance is a worker with a file of 100 MB (UNC §VI)";
    "iozone-64k" on "linux-2.6.32", 1: iozone::large_records,
        "the same by records of 64 KB";
    "bonnie" on "linux-2.6.32", 1: bonnie::bonnie,
        "bonnie++: a file twice as large as the memory by characters and by blocks, seeks, empty files (the wiki's page)";
}

/// The program called `name`.
pub fn named(name: &str) -> Option<&'static Row> {
    ALL.iter().find(|row| row.name == name)
}
