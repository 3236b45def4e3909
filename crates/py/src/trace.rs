//! Traces as Arrow's batches of rows, read as they are wanted.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, BooleanArray, RecordBatch, RecordBatchReader, StringArray, UInt8Array, UInt32Array, UInt64Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use idlewise::library;
use idlewise_core::{Class, Operation};
use idlewise_sim::traces::{Record, Trace, TraceError};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::call;
use crate::keywords::told;
use crate::table::{STREAM, Table, described};

/// What a column is made of: rows, and the trace for names.
type Make = fn(&[Record], &Trace) -> ArrayRef;

/// A column: name, unit, meaning, kind, and how it is made. Names are those of idlewise's own trace format.
struct Column(&'static str, &'static str, &'static str, DataType, Make);

fn array<A: FromIterator<T> + arrow_array::Array + 'static, T>(
    rows: &[Record],
    of: impl Fn(&Record) -> T,
) -> ArrayRef {
    Arc::new(rows.iter().map(of).collect::<A>())
}

const COLUMNS: [Column; 17] = [
    Column(
        "arrival_ns",
        "ns",
        "When it reached the block layer, since the first row.",
        DataType::UInt64,
        |rows, _| array::<UInt64Array, _>(rows, |row| Some(row.arrival.0)),
    ),
    Column("dispatched_ns", "ns", "When it was sent to the disk.", DataType::UInt64, |rows, _| {
        array::<UInt64Array, _>(rows, |row| row.dispatched.map(|time| time.0))
    }),
    Column("completed_ns", "ns", "When it was done.", DataType::UInt64, |rows, _| {
        array::<UInt64Array, _>(rows, |row| row.completed.map(|time| time.0))
    }),
    Column("device", "", "The device or volume.", DataType::Utf8, |rows, trace| {
        array::<StringArray, _>(rows, |row| trace.devices().get(row.device as usize).cloned())
    }),
    Column("issuer", "", "The number of the process that issued it.", DataType::UInt32, |rows, _| {
        array::<UInt32Array, _>(rows, |row| row.issuer.map(|issuer| issuer.0))
    }),
    Column("operation", "", "What it asks for: read, write, discard or flush.", DataType::Utf8, |rows, _| {
        array::<StringArray, _>(rows, |row| Some(word(row.operation)))
    }),
    Column("start", "sectors", "The first sector of 512 bytes.", DataType::UInt64, |rows, _| {
        array::<UInt64Array, _>(rows, |row| Some(row.start.0))
    }),
    Column("sectors", "sectors", "The length; 0 only of flushes.", DataType::UInt32, |rows, _| {
        array::<UInt32Array, _>(rows, |row| Some(row.length.0))
    }),
    Column("synchronous", "", "Somebody waits for it.", DataType::Boolean, |rows, _| {
        array::<BooleanArray, _>(rows, |row| Some(row.sync))
    }),
    Column("metadata", "", "It is a file system's metadata.", DataType::Boolean, |rows, _| {
        array::<BooleanArray, _>(rows, |row| Some(row.metadata))
    }),
    Column(
        "forced",
        "",
        "Its own data is on the medium when it is done (FUA).",
        DataType::Boolean,
        |rows, _| array::<BooleanArray, _>(rows, |row| Some(row.durable.itself)),
    ),
    Column(
        "flushes_before",
        "",
        "What the disk's cache holds is on the medium before it begins.",
        DataType::Boolean,
        |rows, _| array::<BooleanArray, _>(rows, |row| Some(row.durable.before)),
    ),
    Column("prio_class", "", "The class of its I/O priority: rt, be or idle.", DataType::Utf8, |rows, _| {
        array::<StringArray, _>(rows, |row| row.priority.map(|priority| class(priority.class)))
    }),
    Column("prio_level", "", "The level in its class, 0 (highest) to 7.", DataType::UInt8, |rows, _| {
        array::<UInt8Array, _>(rows, |row| row.priority.map(|priority| priority.level))
    }),
    Column("process", "", "The name of the process.", DataType::Utf8, |rows, trace| {
        let name = |row: &Record| row.issuer.and_then(|issuer| trace.process(issuer)).map(str::to_owned);
        array::<StringArray, _>(rows, name)
    }),
    Column(
        "group",
        "",
        "The number of the chain that the process belongs to.",
        DataType::UInt32,
        |rows, _| array::<UInt32Array, _>(rows, |row| row.group.map(|group| group.0)),
    ),
    Column("latency_ns", "ns", "From arrival to completion.", DataType::UInt64, |rows, _| {
        array::<UInt64Array, _>(rows, |row| row.response().map(|time| time.0))
    }),
];

fn word(operation: Operation) -> &'static str {
    match operation {
        Operation::Read => "read",
        Operation::Write => "write",
        Operation::Discard => "discard",
        Operation::Flush => "flush",
    }
}

fn class(class: Class) -> &'static str {
    match class {
        Class::RealTime => "rt",
        Class::BestEffort => "be",
        Class::Idle => "idle",
    }
}

fn schema() -> SchemaRef {
    let field = |Column(name, unit, about, kind, _): &Column| {
        described(Field::new(*name, kind.clone(), true), unit, about)
    };
    Arc::new(Schema::new(COLUMNS.iter().map(field).collect::<Vec<_>>()))
}

/// Rows for which a batch has room at first: it may be asked for more than the trace has.
const AT_FIRST: usize = 65_536;

/// One reading of a trace, some rows at a time.
struct Reading {
    trace: Trace,
    schema: SchemaRef,
    /// Rows in a batch.
    rows: usize,
    ended: bool,
    /// Why the reading has failed.
    failure: Arc<OnceLock<String>>,
}

impl Reading {
    /// The trace cannot be read on.
    fn fails(&mut self, error: &TraceError) -> ArrowError {
        self.ended = true;
        let message = self.failure.get_or_init(|| told(&error.to_string()));
        ArrowError::ExternalError(message.as_str().into())
    }
}

impl Iterator for Reading {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut rows = Vec::with_capacity(self.rows.min(AT_FIRST));
        while rows.len() < self.rows && !self.ended {
            match self.trace.next() {
                Ok(Some(row)) => rows.push(row),
                Ok(None) => self.ended = true,
                Err(error) => return Some(Err(self.fails(&error))),
            }
        }
        if rows.is_empty() {
            return None;
        }
        let arrays = COLUMNS.iter().map(|column| column.4(&rows, &self.trace)).collect();
        Some(RecordBatch::try_new(Arc::clone(&self.schema), arrays))
    }
}

impl RecordBatchReader for Reading {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// The rows of a trace, from its beginning, in batches.
#[pyclass(frozen, module = "idlewise._native")]
pub(crate) struct Batches {
    reading: Mutex<Option<Reading>>,
    failure: Arc<OnceLock<String>>,
}

impl Batches {
    fn taken(&self) -> PyResult<Reading> {
        let reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner).take();
        reading
            .ok_or_else(|| PyRuntimeError::new_err("these rows were handed out before: ask for them again"))
    }
}

#[pymethods]
impl Batches {
    /// Opens a trace.
    #[new]
    #[pyo3(signature = (path, format, devices, lenient, rows))]
    #[expect(clippy::needless_pass_by_value, reason = "Python hands over what was made of its arguments")]
    fn new(
        path: PathBuf,
        format: Option<String>,
        devices: Vec<String>,
        lenient: bool,
        rows: usize,
    ) -> PyResult<Batches> {
        let trace = library::open(&path, format, devices, lenient).map_err(call::raised)?;
        let failure = Arc::new(OnceLock::new());
        let (rows, told) = (rows.max(1), Arc::clone(&failure));
        let reading = Reading { trace, schema: schema(), rows, ended: false, failure: told };
        Ok(Batches { reading: Mutex::new(Some(reading)), failure })
    }

    /// Why the rows cannot be read to their end, once that has shown.
    #[getter]
    fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    fn __iter__(own: Py<Batches>) -> Py<Batches> {
        own
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        let mut reading = self.taken()?;
        let (batch, reading) = py.detach(move || (reading.next(), reading));
        let schema = reading.schema();
        *self.reading.lock().unwrap_or_else(PoisonError::into_inner) = Some(reading);
        match batch {
            Some(Ok(batch)) => Ok(Some(Table::new(schema, vec![batch]))),
            Some(Err(error)) => Err(call::Error::new_err(match error {
                ArrowError::ExternalError(error) => error.to_string(),
                error => error.to_string(),
            })),
            None => Ok(None),
        }
    }

    /// All rows that are left, as a stream that reads them as they are wanted.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(self.taken()?)), STREAM)
    }
}
