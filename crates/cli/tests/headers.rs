//! The headers of the kernel modules' C halves declare what the Rust halves define: cbindgen makes them.

mod common;

use cbindgen::{Builder, Config, Language, Layout, RenameRule, Style};
use common::root;

/// A header and what it is made of.
struct Header {
    path: &'static str,
    guard: &'static str,
    comment: &'static str,
    sources: &'static [&'static str],
    /// Names for C. What begins with `struct` is opaque there.
    names: &'static [(&'static str, &'static str)],
}

const CORE: Header = Header {
    path: "kernel/shim/core.h",
    guard: "IW_CORE_H",
    comment: "The functions of the Rust half, and those that the Rust half calls. kernel/src describes each. Functions that\n \
              * may sleep or free something are called without a lock, all others with the queue's lock.",
    sources: &[
        "crates/core/src/units.rs",
        "crates/core/src/request.rs",
        "kernel/src/catalogue.rs",
        "kernel/src/queue.rs",
        "kernel/src/selector.rs",
        "kernel/src/tables.rs",
        "kernel/src/curve.rs",
        "kernel/src/memory.rs",
    ],
    names: &[
        ("AnyScheduler", "struct iw_scheduler"),
        ("Auto", "struct iw_auto"),
        ("Known", "struct iw_curve"),
        ("Table", "struct iw_table"),
        ("Host", "struct iw_host"),
        ("IDLE", "IW_IDLE"),
        ("MESSAGE", "IW_MESSAGE"),
        ("NOBODY", "IW_NOBODY"),
        ("STAY", "IW_STAY"),
        ("Priority", "iw_priority"),
        ("Durable", "iw_durable"),
        ("Order", "iw_order"),
        ("RawDevice", "iw_device"),
        ("Request", "iw_request"),
        ("TUNABLES_MAX", "IW_TUNABLES"),
    ],
};

const MODEL: Header = Header {
    path: "kernel/disk/driver/model.h",
    guard: "IWD_MODEL_H",
    comment: "The functions of the Rust half; kernel/disk/src describes each. Functions\n \
              * that may sleep or free something are called without a lock, all others with the disk's lock.",
    sources: &["crates/core/src/request.rs", "kernel/disk/src/device.rs"],
    names: &[
        ("Disk", "struct iwd_model"),
        ("NEVER", "IWD_NEVER"),
        ("RawCommand", "iwd_command"),
        ("RawCompletion", "iwd_completion"),
        ("RawTraits", "iwd_traits"),
    ],
};

/// The text of a header.
fn made(header: &Header) -> String {
    let mut config = Config {
        language: Language::C,
        style: Style::Tag,
        usize_is_size_t: true,
        no_includes: true,
        sys_includes: vec!["linux/types.h".to_owned()],
        include_guard: Some(header.guard.to_owned()),
        documentation: false,
        ..Config::default()
    };
    let cut = header.names.iter().filter_map(|(_, name)| name.strip_prefix("struct "));
    config.after_includes = Some(cut.map(|name| format!("\nstruct {name};")).collect());
    config.function.args = Layout::Horizontal;
    config.enumeration.rename_variants = RenameRule::QualifiedScreamingSnakeCase;
    let always = [("Class", "iw_class"), ("Operation", "iw_operation")];
    let units = ["Instant", "Sector"].map(|name| (name, "u64"));
    let numbers = ["Sectors", "Issuer", "Group"].map(|name| (name, "u32"));
    let names = always.iter().chain(&units).chain(&numbers).chain(header.names);
    config.export.rename = names.map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
    let hidden = [
        "Instant",
        "Sector",
        "Sectors",
        "Issuer",
        "Group",
        "Duration",
        "Weight",
        "Direction",
        "Auto",
        "Known",
        "Table",
        "Disk",
    ];
    let unused = ["SECTOR_BYTES", "NAME_LENGTH"];
    config.export.exclude = hidden.iter().chain(&unused).map(|&name| name.to_owned()).collect();

    let start = Builder::new().with_config(config);
    let builder = header.sources.iter().fold(start, |builder, path| builder.with_src(root().join(path)));
    let mut text = Vec::new();
    builder.generate().expect("cbindgen reads them").write(&mut text);
    let text = String::from_utf8(text).expect("C is text");
    let comment = format!("/* {}\n * Made by crates/cli/tests/headers.rs.\n */\n", header.comment);
    format!("/* SPDX-License-Identifier: GPL-2.0 */\n{comment}{}", kernel_style(&text))
}

/// cbindgen's C as the kernel's is: its names of integers, tabs, no word of later C.
fn kernel_style(text: &str) -> String {
    let mut kept = String::new();
    // C23 writes an enumeration's type; before that it is a type beside.
    let mut later = false;
    for line in text.lines() {
        match line {
            "#if __STDC_VERSION__ >= 202311L" => later = true,
            "#else" | "#endif // __STDC_VERSION__ >= 202311L" => later = false,
            "" if kept.ends_with("\n\n") || kept.ends_with(");\n") => {}
            _ if later => {}
            _ => kept += &format!("{line}\n"),
        }
    }
    let mut kept = kept
        .replace("\n  ", "\n\t")
        .replace("extern ", "")
        .replace("\n {\n", " {\n")
        .replace("#endif  /*", "\n#endif /*");
    for bits in ["8", "16", "32", "64"] {
        kept = kept.replace(&format!("uint{bits}_t"), &format!("u{bits}"));
        kept = kept.replace(&format!("int{bits}_t"), &format!("s{bits}"));
        kept = kept.replace(&format!("UINT{bits}_MAX"), &format!("U{bits}_MAX"));
    }
    kept
}

#[test]
fn headers_declare_what_rust_defines() {
    for header in [CORE, MODEL] {
        let (path, made) = (root().join(header.path), made(&header));
        if std::env::var_os("UPDATE_HEADERS").is_some() {
            std::fs::write(&path, &made).expect("the kernel's folder can be written to");
            continue;
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        let cure = "UPDATE_HEADERS=1 cargo test -p idlewise --test headers";
        assert!(committed == made, "{} is stale; run: {cure}", header.path);
    }
}
