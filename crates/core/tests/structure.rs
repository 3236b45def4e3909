//! The house as its imports draw it: no two files of a crate import each other, directly or through others.
//!
//! An arrow runs from a file to each file whose items it names, in a `use`, a path or a macro's arguments. What a
//! file only passes on (`pub use`) is followed to where it is defined. Tests are no part of the picture.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

/// A path of names from the crate's root.
type Names = Vec<String>;

/// The files of a crate by module, and what each passes on: a name, and where it comes from.
#[derive(Default)]
struct Crate {
    files: BTreeMap<Names, syn::File>,
    passed_on: BTreeMap<Names, BTreeMap<String, Names>>,
}

fn only_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|one| {
        one.path().is_ident("cfg") && one.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

/// The paths that a `use` names, below `prefix`.
fn leaves(tree: &UseTree, prefix: &[String], found: &mut Vec<(Names, String)>) {
    let below = |name: &syn::Ident| [prefix, &[name.to_string()]].concat();
    match tree {
        UseTree::Path(path) => leaves(&path.tree, &below(&path.ident), found),
        UseTree::Name(name) if name.ident == "self" => {
            found.push((prefix.to_vec(), prefix.last().cloned().unwrap_or_default()));
        }
        UseTree::Name(name) => found.push((below(&name.ident), name.ident.to_string())),
        UseTree::Rename(rename) => found.push((below(&rename.ident), rename.rename.to_string())),
        UseTree::Glob(_) => {}
        UseTree::Group(group) => group.items.iter().for_each(|one| leaves(one, prefix, found)),
    }
}

/// `names` as seen from the module `from`, from the crate's root on. `None` if another crate is meant.
fn absolute(names: &[String], from: &[String], known: &Crate) -> Option<Names> {
    let mut at = from.to_vec();
    for (place, name) in names.iter().enumerate() {
        match name.as_str() {
            "crate" if place == 0 => at.clear(),
            "self" => {}
            "super" => drop(at.pop()),
            _ => {
                let named =
                    place > 0 || known.files.contains_key(&[&at[..], std::slice::from_ref(name)].concat());
                return named.then(|| [&at[..], &names[place..]].concat());
            }
        }
    }
    None
}

impl Crate {
    fn read(root: &Path) -> Crate {
        let mut house = Crate::default();
        let start = ["lib.rs", "main.rs"].map(|name| root.join(name)).into_iter().find(|path| path.exists());
        house.add(&start.unwrap(), root, &[]);
        for (module, file) in &house.files {
            let mut passed_on = BTreeMap::new();
            for item in &file.items {
                if let Item::Use(one) = item
                    && !matches!(one.vis, syn::Visibility::Inherited)
                {
                    let mut found = Vec::new();
                    leaves(&one.tree, &[], &mut found);
                    let from =
                        |(names, name): (Names, String)| Some((name, absolute(&names, module, &house)?));
                    passed_on.extend(found.into_iter().filter_map(from));
                }
            }
            house.passed_on.insert(module.clone(), passed_on);
        }
        house
    }

    /// Adds the file of `module` and, as folders name them, those below it.
    fn add(&mut self, path: &Path, folder: &Path, module: &[String]) {
        let file = syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap();
        let for_tests = |item: &Item| match item {
            Item::Mod(one) if only_for_tests(&one.attrs) => Some(one.ident.to_string()),
            _ => None,
        };
        let tests: Vec<String> = file.items.iter().filter_map(for_tests).collect();
        self.files.insert(module.to_vec(), file);
        let Ok(entries) = fs::read_dir(folder) else { return };
        for path in entries.map(|entry| entry.unwrap().path()) {
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            let below = [module, std::slice::from_ref(&stem)].concat();
            let inside = path.join("mod.rs");
            let is_source = path.extension().is_some_and(|extension| extension == "rs");
            if ["lib", "main", "mod"].contains(&stem.as_str()) || tests.contains(&stem) {
            } else if is_source {
                self.add(&path, &path.with_extension(""), &below);
            } else if path.is_dir() && inside.exists() {
                self.add(&inside, &path, &below);
            } else if path.is_dir() && !path.with_extension("rs").exists() {
                self.add_folder(&path, &below);
            }
        }
    }

    /// Adds the files of a folder that has no file of its own: its modules stand in a macro's list.
    fn add_folder(&mut self, folder: &Path, module: &[String]) {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
            if path.extension().is_some_and(|extension| extension == "rs") {
                self.add(&path, &path.with_extension(""), &[module, &[stem]].concat());
            }
        }
    }

    /// The module whose file defines what `names` leads to.
    fn home(&self, names: &[String]) -> Option<Names> {
        let length = (0..=names.len()).rev().find(|length| self.files.contains_key(&names[..*length]))?;
        let (module, rest) = names.split_at(length);
        let Some(from) = rest.first().and_then(|name| self.passed_on[module].get(name)) else {
            return Some(module.to_vec());
        };
        self.home(&[&from[..], &rest[1..]].concat())
    }

    /// Each file and the files that it imports.
    fn arrows(&self) -> BTreeMap<Names, BTreeSet<Names>> {
        let of = |(module, file): (&Names, &syn::File)| {
            let mut paths = Paths { found: Vec::new() };
            paths.visit_file(file);
            let targets = paths.found.iter().filter_map(|names| self.home(&absolute(names, module, self)?));
            (module.clone(), targets.filter(|target| target != module).collect())
        };
        self.files.iter().map(of).collect()
    }
}

/// Collects the paths that a file names, outside of tests.
struct Paths {
    found: Vec<Names>,
}

impl Paths {
    /// Paths in what a macro is given, which begin with `crate` or `super`.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Names = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(name) if path.is_empty() || colons != 2 => {
                    self.end(&mut path);
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Ident(name) => {
                    path.push(name.to_string());
                    colons = 0;
                }
                TokenTree::Punct(sign) if sign.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.end(&mut path);
                    self.tokens(group.stream());
                }
                _ => self.end(&mut path),
            }
        }
        self.end(&mut path);
    }

    fn end(&mut self, path: &mut Names) {
        if path.first().is_some_and(|first| first == "crate" || first == "super") {
            self.found.push(std::mem::take(path));
        }
        path.clear();
    }
}

impl<'a> Visit<'a> for Paths {
    fn visit_item(&mut self, item: &'a Item) {
        let attributes = match item {
            Item::Mod(one) => &one.attrs,
            Item::Use(one) => &one.attrs,
            Item::Fn(one) => &one.attrs,
            Item::Impl(one) => &one.attrs,
            Item::Struct(one) => &one.attrs,
            _ => &Vec::new(),
        };
        if !only_for_tests(attributes) {
            visit::visit_item(self, item);
        }
    }
    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        if !only_for_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }
    /// What is only passed on is no arrow: who uses it has one.
    fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
        if matches!(item.vis, syn::Visibility::Inherited) {
            let mut found = Vec::new();
            leaves(&item.tree, &[], &mut found);
            self.found.extend(found.into_iter().map(|(names, _)| names));
        }
    }
    fn visit_path(&mut self, path: &'a syn::Path) {
        let names: Names = path.segments.iter().map(|one| one.ident.to_string()).collect();
        if ["crate", "super", "self"].contains(&names[0].as_str()) {
            self.found.push(names);
        }
        visit::visit_path(self, path);
    }
    fn visit_macro(&mut self, one: &'a syn::Macro) {
        self.visit_path(&one.path);
        self.tokens(one.tokens.clone());
    }
}

/// The groups of files that reach each other.
fn circles(arrows: &BTreeMap<Names, BTreeSet<Names>>) -> BTreeSet<Vec<&Names>> {
    let reach = |from| {
        let mut reached: BTreeSet<&Names> = BTreeSet::new();
        let mut left = vec![from];
        while let Some(at) = left.pop() {
            left.extend(arrows[at].iter().filter(|next| reached.insert(next)));
        }
        reached
    };
    let reached: BTreeMap<&Names, BTreeSet<&Names>> = arrows.keys().map(|from| (from, reach(from))).collect();
    let both = |a: &Names, b: &Names| reached[a].contains(b) && reached[b].contains(a);
    let circle = |from: &&Names| arrows.keys().filter(|other| both(from, other)).collect::<Vec<_>>();
    arrows.keys().map(|from| circle(&from)).filter(|circle| circle.len() > 1).collect()
}

fn roots() -> Vec<PathBuf> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut crates: Vec<PathBuf> =
        fs::read_dir(top.join("crates")).unwrap().map(|entry| entry.unwrap().path().join("src")).collect();
    crates.extend([top.join("kernel/src"), top.join("kernel/disk/src")]);
    crates
}

#[test]
fn no_files_import_each_other() {
    let mut found = String::new();
    for root in roots() {
        let arrows = Crate::read(&root).arrows();
        assert!(arrows.values().map(BTreeSet::len).sum::<usize>() > 0, "{} has no arrows", root.display());
        for circle in circles(&arrows) {
            found += &format!("\n{}:", root.display());
            for from in &circle {
                let to: Vec<_> = arrows[*from].iter().filter(|to| circle.contains(to)).collect();
                found += &format!(
                    "\n  {} -> {}",
                    from.join("::"),
                    to.iter().map(|to| to.join("::")).collect::<Vec<_>>().join(", ")
                );
            }
        }
    }
    assert!(found.is_empty(), "files import each other in a circle:{found}");
}
