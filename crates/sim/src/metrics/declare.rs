//! How figures are declared: [`figures!`] makes a struct and a table that describes its fields. The JSON, its
//! schema, the CSV, the tables, the pages and the verdict are all made from what is declared here.

/// A struct of figures.
#[derive(Debug)]
pub struct FigureSet {
    /// The group's name in the schema.
    pub name: &'static str,
    /// What it holds.
    pub about: &'static str,
    /// The fields, in order.
    pub fields: &'static [Field],
}

/// One field of a group.
#[derive(Debug)]
pub struct Field {
    /// The field's name in JSON.
    pub name: &'static str,
    /// What it says.
    pub about: &'static str,
    /// What kind of value it is.
    pub kind: Kind,
    /// Some reports leave it out.
    pub optional: bool,
    /// The columns of tables that show it, or parts of it.
    pub columns: &'static [Column],
}

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Words.
    Text,
    /// A name, or null if it is unknown.
    Name,
    /// A number that names something.
    Id,
    /// A weight, from 1 to 10 000.
    Weight,
    /// A plain number.
    Count,
    /// Bytes.
    Bytes,
    /// Bytes in a second.
    Rate,
    /// Operations in a second.
    Iops,
    /// A long time in nanoseconds, shown in seconds.
    Seconds,
    /// A short time in nanoseconds, shown in milliseconds.
    Millis,
    /// A part of a whole, from 0 to 1, shown in percent.
    Share,
    /// An index from 0 to 1.
    Index,
    /// A group of figures.
    One(&'static FigureSet),
    /// A list of groups.
    List(&'static FigureSet),
}

impl Kind {
    /// The unit in which people are shown it, and how much of the value makes one.
    pub fn unit(self) -> (&'static str, f64) {
        match self {
            Kind::Bytes => ("MB", 1e6),
            Kind::Rate => ("MB/s", 1e6),
            Kind::Iops => ("IOPS", 1.0),
            Kind::Seconds => ("s", 1e9),
            Kind::Millis => ("ms", 1e6),
            Kind::Share => ("%", 0.01),
            Kind::Index => ("0 to 1", 1.0),
            _ => ("", 1.0),
        }
    }

    /// The same for values near `value`: short times in microseconds.
    pub fn unit_near(self, value: f64) -> (&'static str, f64) {
        match self {
            Kind::Millis if value > 0.0 && value < 1e6 => ("µs", 1e3),
            _ => self.unit(),
        }
    }

    /// The unit of the value itself, as JSON has it; empty for plain numbers and words.
    pub fn base_unit(self) -> &'static str {
        match self {
            Kind::Bytes => "B",
            Kind::Rate => "B/s",
            Kind::Iops => "1/s",
            Kind::Seconds | Kind::Millis => "ns",
            _ => "",
        }
    }
}

/// Which values are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Small ones.
    Less,
    /// Large ones.
    More,
    /// Neither: it describes.
    Neither,
}

/// A column of tables.
#[derive(Debug)]
pub struct Column {
    /// The part of the field that it shows, with dots between the names; empty for the field itself.
    pub part: &'static str,
    /// The title; empty where the unit says it all.
    pub title: &'static str,
    /// Which values are better.
    pub better: Better,
    /// Where room is short, columns of a higher rank go first.
    pub rank: u8,
    /// What verdicts and charts call it, if people choose a scheduler by it.
    pub goal: Option<&'static str>,
}

impl Column {
    pub(super) const fn new(part: &'static str, title: &'static str, better: Better, rank: u8) -> Column {
        Column { part, title, better, rank, goal: None }
    }

    pub(super) const fn goal(self, name: &'static str) -> Column {
        Column { goal: Some(name), ..self }
    }
}

/// A column with where its values stand in the JSON.
#[derive(Clone, Debug)]
pub struct Metric {
    /// The names of the fields that lead to it, with dots between.
    pub path: String,
    /// What it says.
    pub about: &'static str,
    /// What kind of value it is.
    pub kind: Kind,
    /// How it is shown.
    pub column: &'static Column,
}

impl FigureSet {
    /// Every column that the fields declare, in order.
    pub fn metrics(&'static self) -> impl Iterator<Item = Metric> {
        let of = |field: &'static Field| {
            field.columns.iter().map(move |column| {
                let parts = column.part.split('.').filter(|part| !part.is_empty());
                let (mut path, mut last) = (field.name.to_owned(), field);
                for part in parts {
                    let Kind::One(group) = last.kind else { unreachable!("{path} has no parts") };
                    path = format!("{path}.{part}");
                    let inner = group.fields.iter().find(|inner| inner.name == part);
                    last = inner.unwrap_or_else(|| unreachable!("{path} is no field"));
                }
                Metric { path, about: last.about, kind: last.kind, column }
            })
        };
        self.fields.iter().flat_map(of)
    }
}

/// Declares a struct of figures. Each field has its meaning, `name: type`, how to get it from the source, its [`Kind`]
/// and, in brackets, its columns. Without a source the struct is filled during the run.
macro_rules! figures {
    (
        $(#[doc = $about:literal])+
        $group:ident $name:literal from $from:ident: $source:ty {
            $($(#[doc = $doc:literal])+ $(#[serde($($serde:tt)*)])?
            $field:ident: $type:ty = $how:expr, $kind:ident $(($inner:ident))? $([$($column:expr),+])?;)+
        }
    ) => {
        figures! {
            $(#[doc = $about])+
            $group $name {
                $($(#[doc = $doc])+ $(#[serde($($serde)*)])?
                $field: $type, $kind $(($inner))? $([$($column),+])?;)+
            }
        }

        impl $group {
            fn of($from: $source) -> $group {
                $group { $($field: $how,)+ }
            }
        }
    };
    (
        $(#[doc = $about:literal])+
        $group:ident $name:literal {
            $($(#[doc = $doc:literal])+ $(#[serde($($serde:tt)*)])?
            $field:ident: $type:ty, $kind:ident $(($inner:ident))? $([$($column:expr),+])?;)+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
        pub struct $group {
            $($(#[doc = $doc])+ $(#[serde($($serde)*)])? pub $field: $type,)+
        }

        impl $group {
            /// What its fields are.
            pub const GROUP: &'static $crate::metrics::declare::FigureSet = &$crate::metrics::declare::FigureSet {
                name: $name,
                about: concat!($($about),+),
                fields: &[$($crate::metrics::declare::Field {
                    name: stringify!($field),
                    about: concat!($($doc),+),
                    kind: $crate::metrics::declare::Kind::$kind $(($inner::GROUP))?,
                    optional: !stringify!($($($serde)*)?).is_empty(),
                    columns: &[$($($column),+)?],
                }),+],
            };
        }
    };
}

pub(super) use figures;
