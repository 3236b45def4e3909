//! The collections against naive models: vectors, searched and sorted the slow way.

use alloc::format;
use alloc::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::{Strategy, any};
use proptest::test_runner::TestCaseError;

use super::scene::runner;
use crate::collections::{self, Heap, Links, List, Sorted};
use crate::units::RequestId;

type Outcome = Result<(), TestCaseError>;

/// Ids below this take part.
const SIZE: usize = 200;

/// Sequences of (what to do, to which id, under which key). Few distinct keys make many equals.
fn moves() -> impl Strategy<Value = Vec<(u8, u8, u64)>> {
    let key = (any::<u8>(), any::<u64>()).prop_map(|(kind, key)| match kind % 4 {
        0 => key % 4,
        1 => key % 100,
        2 => Sorted::GREATEST - key % 3,
        _ => key % Sorted::GREATEST,
    });
    vec((any::<u8>(), 0..SIZE as u8, key), 0..400)
}

#[allow(clippy::needless_pass_by_value, reason = "callers make both for this call")]
fn equal<T: PartialEq + core::fmt::Debug>(found: T, expected: T, what: &str) -> Outcome {
    if found == expected {
        return Ok(());
    }
    Err(TestCaseError::fail(format!("{what}: {found:?}, the model has {expected:?}")))
}

fn ids(model: &[(u64, RequestId)]) -> Vec<RequestId> {
    model.iter().map(|(_, id)| *id).collect()
}

/// Everything that can be asked of `sorted`, against a sorted vector.
fn same_sorted(sorted: &Sorted, model: &[(u64, RequestId)], key: u64) -> Outcome {
    equal(sorted.len(), model.len(), "len")?;
    equal(sorted.is_empty(), model.is_empty(), "is_empty")?;
    equal(sorted.iter().collect::<Vec<_>>(), model.to_vec(), "iter")?;
    equal(sorted.first(), ids(model).first().copied(), "first")?;
    equal(sorted.last(), ids(model).last().copied(), "last")?;
    for key in [key, key.saturating_add(1), 0, u64::MAX] {
        let at = model.partition_point(|(held, _)| *held < key);
        let (below, above) = model.split_at(at);
        equal(sorted.at_or_after(key), ids(above).first().copied(), "at_or_after")?;
        equal(sorted.before(key), ids(below).last().copied(), "before")?;
        let first =
            below.last().and_then(|(last, _)| below.iter().find(|(own, _)| own == last)).map(|(_, id)| *id);
        equal(sorted.below(key), first, "below")?;
        equal(sorted.around(key), (first, ids(above).first().copied()), "around")?;
        equal(sorted.iter_from(key).collect::<Vec<_>>(), above.to_vec(), "iter_from")?;
        let back: Vec<_> = below.iter().rev().copied().collect();
        let (down, up) = sorted.iter_around(key);
        equal((down.collect::<Vec<_>>(), up.collect()), (back, above.to_vec()), "iter_around")?;
    }
    Ok(())
}

/// Whether `id` is held, and with which key and neighbours.
fn same_place(sorted: &Sorted, model: &[(u64, RequestId)], id: RequestId) -> Outcome {
    let place = model.iter().position(|(_, held)| *held == id);
    equal(sorted.contains(id), place.is_some(), "contains")?;
    let Some(place) = place else { return Ok(()) };
    equal(sorted.key(id), model[place].0, "key")?;
    equal(sorted.next(id), ids(model).get(place + 1).copied(), "next")?;
    equal(sorted.previous(id), place.checked_sub(1).map(|before| model[before].1), "previous")
}

/// Inserts where absent, removes where present; `kind` biases towards growth, then shrinkage.
fn play_sorted(moves: &[(u8, u8, u64)]) -> Outcome {
    let mut sorted = Sorted::new(SIZE).unwrap();
    let mut model: Vec<(u64, RequestId)> = Vec::new();
    for (kind, id, key) in moves {
        let id = RequestId(u32::from(*id));
        match model.iter().position(|(_, held)| *held == id) {
            Some(place) if kind % 3 > 0 => {
                model.remove(place);
                let place_of = |place: Option<usize>| ids(&model).get(place?).copied();
                let neighbours = (place_of(place.checked_sub(1)), place_of(Some(place)));
                match kind % 3 {
                    1 => equal(sorted.remove_between(id), neighbours, "remove_between")?,
                    _ => equal(sorted.remove_before_next(id), neighbours.1, "remove_before_next")?,
                }
            }
            Some(_) => {}
            None => {
                let place = model.partition_point(|(held, _)| held <= key);
                model.insert(place, (*key, id));
                sorted.insert(*key, id);
            }
        }
        same_place(&sorted, &model, id)?;
        same_sorted(&sorted, &model, *key)?;
    }
    Ok(())
}

/// With vector units and without, as kernels are compiled.
fn wide_and_narrow(play: impl Fn()) {
    for wide in [true, false] {
        collections::WIDE.set(wide);
        play();
    }
}

#[test]
fn sorted_is_a_sorted_vector() {
    wide_and_narrow(|| runner(60).run(&moves(), |moves| play_sorted(&moves)).unwrap());
}

/// Orders of insertion and removal that split and join blocks as often as they can.
#[test]
fn sorted_never_runs_out_of_blocks() {
    const MANY: u32 = 3000;
    let orders: [fn(u32) -> u64; 5] = [
        |n| u64::from(n),
        |n| u64::from(MANY - n),
        |n| u64::from(n.wrapping_mul(2_654_435_761)),
        |n| u64::from(n % 2 * MANY + n),
        |_| 7,
    ];
    wide_and_narrow(|| {
        let mut sorted = Sorted::new(MANY as usize).unwrap();
        for order in orders {
            for keep in [2, 16, 17, 31, 33] {
                (0..MANY).for_each(|n| sorted.insert(order(n), RequestId(n)));
                // Thin every block out, fill up again at one end, then empty it.
                (0..MANY).filter(|n| n % keep != 0).for_each(|n| sorted.remove(RequestId(n)));
                (0..MANY)
                    .filter(|n| n % keep != 0)
                    .for_each(|n| sorted.insert(u64::from(n % 3), RequestId(n)));
                let keys: Vec<u64> = sorted.iter().map(|(key, _)| key).collect();
                assert!(keys.is_sorted() && keys.len() == MANY as usize);
                (0..MANY).rev().for_each(|n| sorted.remove(RequestId(n)));
                assert!(sorted.is_empty() && sorted.first().is_none() && sorted.last().is_none());
            }
        }
    });
}

#[test]
fn equal_keys_leave_in_order_of_insertion() {
    let (mut sorted, mut heap) = (Sorted::new(SIZE).unwrap(), Heap::new(SIZE).unwrap());
    let order: Vec<RequestId> = (0..SIZE as u32).map(|n| RequestId(n * 77 % SIZE as u32)).collect();
    for id in &order {
        sorted.insert(5, *id);
        heap.insert(5, *id);
    }
    assert_eq!(sorted.iter().map(|(_, id)| id).collect::<Vec<_>>(), order);
    assert_eq!(core::iter::from_fn(|| heap.pop()).map(|(_, id)| id).collect::<Vec<_>>(), order);
}

fn play_heap(moves: &[(u8, u8, u64)]) -> Outcome {
    let mut heap = Heap::new(SIZE).unwrap();
    let mut model: Vec<(u64, RequestId)> = Vec::new();
    for (kind, id, key) in moves {
        let id = RequestId(u32::from(*id));
        match model.iter().position(|(_, held)| *held == id) {
            Some(place) => {
                model.remove(place);
                heap.remove(id);
            }
            None if kind % 8 == 0 => {
                equal(heap.pop(), model.first().copied(), "pop")?;
                model.drain(..1.min(model.len()));
            }
            None => {
                let place = model.partition_point(|(held, _)| held <= key);
                model.insert(place, (*key, id));
                heap.insert(*key, id);
            }
        }
        equal(heap.contains(id), model.iter().any(|(_, held)| *held == id), "contains")?;
        equal((heap.len(), heap.is_empty()), (model.len(), model.is_empty()), "len")?;
        equal(heap.first(), model.first().copied(), "first")?;
    }
    let rest: Vec<_> = core::iter::from_fn(|| heap.pop()).collect();
    equal(rest, model, "the order in which all leave")
}

#[test]
fn heap_is_a_vector_sorted_by_key() {
    runner(200).run(&moves(), |moves| play_heap(&moves)).unwrap();
}

/// Two lists over one table of links.
fn play_lists(moves: &[(u8, u8, u64)]) -> Outcome {
    let mut links = Links::new(SIZE).unwrap();
    let mut lists = [List::default(), List::default()];
    let mut models = [Vec::new(), Vec::new()];
    for (kind, id, key) in moves {
        let id = RequestId(u32::from(*id));
        let at = (*key % 2) as usize;
        if let Some(holder) = models.iter().position(|model| model.contains(&id)) {
            models[holder].retain(|held| *held != id);
            links.remove(&mut lists[holder], id);
        } else {
            let (model, list) = (&mut models[at], &mut lists[at]);
            match (kind % 4, model.len()) {
                (0, 1..) => {
                    equal(links.pop_front(list), Some(model.remove(0)), "pop_front")?;
                }
                (1, _) => {
                    model.insert(0, id);
                    links.push_front(list, id);
                }
                (2, 1..) => {
                    let place = *key as usize / 2 % model.len();
                    links.insert_before(list, model[place], id);
                    model.insert(place, id);
                }
                _ => {
                    model.push(id);
                    links.push_back(list, id);
                }
            }
        }
        for (list, model) in lists.iter().zip(&models) {
            same_list(&links, list, model)?;
        }
    }
    Ok(())
}

fn same_list(links: &Links, list: &List, model: &[RequestId]) -> Outcome {
    equal(links.iter(list).collect::<Vec<_>>(), model.to_vec(), "iter")?;
    let back = core::iter::successors(list.back(), |id| links.previous(*id));
    equal(back.collect::<Vec<_>>(), model.iter().rev().copied().collect(), "backwards")?;
    equal((list.len(), list.is_empty()), (model.len(), model.is_empty()), "len")?;
    equal((list.front(), list.back()), (model.first().copied(), model.last().copied()), "ends")
}

#[test]
fn lists_are_vectors() {
    runner(100).run(&moves(), |moves| play_lists(&moves)).unwrap();
}

#[test]
fn collections_for_no_requests_are_empty() {
    let (sorted, mut heap) = (Sorted::new(0).unwrap(), Heap::new(0).unwrap());
    assert!(sorted.is_empty() && sorted.at_or_after(0).is_none() && sorted.before(u64::MAX).is_none());
    assert!(heap.is_empty() && heap.pop().is_none());
    assert!(Links::new(0).unwrap().pop_front(&mut List::default()).is_none());
}

#[test]
fn a_request_is_held_once() {
    let twice = |insert: &mut dyn FnMut()| {
        insert();
        std::panic::catch_unwind(core::panic::AssertUnwindSafe(insert)).is_err()
    };
    let (mut sorted, mut heap) = (Sorted::new(4).unwrap(), Heap::new(4).unwrap());
    assert!(twice(&mut || sorted.insert(1, RequestId(2))));
    assert!(twice(&mut || heap.insert(1, RequestId(2))));
}
