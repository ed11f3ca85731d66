//! The parameters of a statement, as arrays or by the macro `params!`.

use super::{ToValue, Value};

/// Parameters that fit on the stack. The longest statement has fewer.
const ON_STACK: usize = 32;

/// The parameters of a statement, in order.
pub(crate) trait Params {
    /// Calls `run` with the values.
    fn pass<R>(self, run: impl FnOnce(&[Value<'_>]) -> R) -> R;
}

pub(super) fn pass_all<'a, R>(
    values: impl ExactSizeIterator<Item = Value<'a>>,
    run: impl FnOnce(&[Value<'_>]) -> R,
) -> R {
    let n = values.len();
    if n > ON_STACK {
        return run(&values.collect::<Vec<_>>());
    }
    let mut stack = [Value::Null; ON_STACK];
    for (place, value) in stack.iter_mut().zip(values) {
        *place = value;
    }
    run(&stack[..n])
}

impl Params for &[&dyn ToValue] {
    fn pass<R>(self, run: impl FnOnce(&[Value<'_>]) -> R) -> R {
        pass_all(self.iter().map(|value| value.to_value()), run)
    }
}

impl Params for &[Value<'_>] {
    fn pass<R>(self, run: impl FnOnce(&[Value<'_>]) -> R) -> R {
        run(self)
    }
}

impl Params for [Value<'_>; 0] {
    fn pass<R>(self, run: impl FnOnce(&[Value<'_>]) -> R) -> R {
        run(&[])
    }
}

macro_rules! arrays {
    ($($n:literal)*) => {$(
        impl<T: ToValue> Params for [T; $n] {
            fn pass<R>(self, run: impl FnOnce(&[Value<'_>]) -> R) -> R {
                pass_all(self.iter().map(ToValue::to_value), run)
            }
        }
    )*};
}

arrays!(1 2 3 4);

/// Lists parameters of different types.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$(&$value as &dyn $crate::db::sql::ToValue),*] as &[&dyn $crate::db::sql::ToValue]
    };
}

pub(crate) use params;
