//! Tables as Arrow has them: handed out, and taken in, without a copy.

use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Arc;

use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{
    ArrayRef, BooleanArray, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array,
    LargeStringArray, RecordBatch, RecordBatchIterator, RecordBatchReader as _, StringArray, StringViewArray,
    UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{ArrowError, Field, Schema, SchemaRef};
use idlewise::library::{self, Column, Values};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList};

const SCHEMA: &CStr = c"arrow_schema";
pub(crate) const STREAM: &CStr = c"arrow_array_stream";

/// A table in memory that is Arrow's: columns with their units and meanings, in one batch of rows or several.
#[pyclass(frozen, module = "idlewise._native")]
pub(crate) struct Table {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

/// An error of Arrow's as Python raises it.
pub(crate) fn raised(error: &ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn field(column: &Column, array: &ArrayRef) -> Field {
    described(Field::new(&column.name, array.data_type().clone(), true), column.unit, &column.about)
}

/// `field` with its unit, if it has one, and what it says.
pub(crate) fn described(field: Field, unit: &str, about: &str) -> Field {
    let unit = (!unit.is_empty()).then(|| ("unit".to_owned(), unit.to_owned()));
    let told = std::iter::once(("about".to_owned(), about.to_owned())).chain(unit);
    field.with_metadata(told.collect::<HashMap<_, _>>())
}

/// Puts the values of `array` at the end of `list`.
fn append(list: &Bound<'_, PyList>, array: &ArrayRef) -> PyResult<()> {
    macro_rules! append_as {
        ($($kind:ident),*) => {
            $(if let Some(values) = array.as_any().downcast_ref::<$kind>() {
                return values.iter().try_for_each(|value| list.append(value));
            })*
        };
    }
    append_as!(Float64Array, Float32Array, StringArray, LargeStringArray, StringViewArray, BooleanArray);
    append_as!(
        UInt64Array,
        UInt32Array,
        UInt16Array,
        UInt8Array,
        Int64Array,
        Int32Array,
        Int16Array,
        Int8Array
    );
    Err(PyTypeError::new_err(format!("a column of {} is for a library such as pyarrow", array.data_type())))
}

impl Table {
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Table {
        Table { schema, batches }
    }

    /// The same table as Arrow has it.
    pub(crate) fn of(table: &library::Table) -> PyResult<Table> {
        let array = |column: &Column| -> ArrayRef {
            match &column.values {
                Values::Text(values) => Arc::new(StringArray::from_iter(values)),
                Values::Whole(values) => Arc::new(UInt64Array::from_iter(values.iter().copied())),
                Values::Number(values) => Arc::new(Float64Array::from_iter(values.iter().copied())),
            }
        };
        let arrays: Vec<ArrayRef> = table.columns.iter().map(array).collect();
        let fields: Vec<Field> =
            table.columns.iter().zip(&arrays).map(|(column, array)| field(column, array)).collect();
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(|error| raised(&error))?;
        Ok(Table { schema, batches: vec![batch] })
    }
}

#[pymethods]
impl Table {
    /// Takes in whatever has `__arrow_c_stream__`, without a copy.
    #[staticmethod]
    fn from_arrow(source: &Bound<'_, PyAny>) -> PyResult<Table> {
        if !source.hasattr("__arrow_c_stream__")? {
            let text =
                "this is no table: pass what has __arrow_c_stream__, such as those of pyarrow and polars";
            return Err(PyTypeError::new_err(text));
        }
        let stream = source.call_method0("__arrow_c_stream__")?;
        let capsule = stream.cast::<PyCapsule>()?;
        let stream = capsule.pointer_checked(Some(STREAM))?.cast::<FFI_ArrowArrayStream>();
        // SAFETY: a capsule of this name holds such a stream (Arrow's PyCapsule interface), and nobody else moves it out
        // while Python is attached. Moved out, it is marked as released, so that the capsule frees nothing.
        let reader =
            unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr()) }.map_err(|error| raised(&error))?;
        let schema = reader.schema();
        let batches = reader.collect::<Result<Vec<_>, _>>().map_err(|error| raised(&error))?;
        Ok(Table { schema, batches })
    }

    /// Arrow's schema, as its PyCapsule interface has it.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.schema.as_ref()).map_err(|error| raised(&error))?;
        PyCapsule::new_with_value(py, schema, SCHEMA)
    }

    /// The rows, as Arrow's PyCapsule interface has them. Another schema is not made of them.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface lets a producer that cannot cast give what it has.
        drop(requested_schema);
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(reader)), STREAM)
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The values of the column `name`.
    fn values<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let place = self.schema.index_of(name).map_err(|_| PyKeyError::new_err(name.to_owned()))?;
        let list = PyList::empty(py);
        for batch in &self.batches {
            append(&list, batch.column(place))?;
        }
        Ok(list)
    }

    /// For each column: name, unit, meaning.
    fn columns(&self) -> Vec<(String, String, String)> {
        let told = |field: &Arc<Field>| {
            let of = |key: &str| field.metadata().get(key).cloned().unwrap_or_default();
            (field.name().clone(), of("unit"), of("about"))
        };
        self.schema.fields().iter().map(told).collect()
    }
}
