//! Which pages stay and which go.

use super::*;

const FILE: FileId = FileId(7);

fn filled(size: u32) -> Cache {
    let mut cache = Cache::new(size);
    for index in 0..size {
        let page = cache.insert(FILE, index, Busy::No).unwrap();
        cache.touch(page);
    }
    cache
}

#[test]
fn a_page_used_twice_outlives_a_stream() {
    let mut cache = filled(8);
    cache.touch(cache.find(FILE, 0).unwrap());
    assert!(cache.is_active(cache.find(FILE, 0).unwrap()));
    for index in 100..120 {
        let page = cache.insert(FILE, index, Busy::No).unwrap();
        cache.touch(page);
    }
    assert!(cache.find(FILE, 0).is_some());
    assert!(cache.find(FILE, 1).is_none());
    assert_eq!(cache.len(), 8);
}

#[test]
fn the_coldest_page_goes_first() {
    let mut cache = filled(4);
    cache.insert(FILE, 100, Busy::No).unwrap();
    assert!(cache.find(FILE, 0).is_none() && cache.find(FILE, 1).is_some());
}

#[test]
fn active_pages_are_half_at_most() {
    let mut cache = filled(8);
    for index in 0..8 {
        cache.touch(cache.find(FILE, index).unwrap());
    }
    assert_eq!(cache.active(), 8);
    for index in 100..104 {
        cache.insert(FILE, index, Busy::No).unwrap();
    }
    assert!(cache.active() <= 5, "{}", cache.active());
    assert!(cache.find(FILE, 7).is_some());
}

#[test]
fn dirty_and_busy_pages_stay() {
    let mut cache = filled(4);
    cache.set_dirty(cache.find(FILE, 0).unwrap(), Instant(5));
    cache.write_begins(cache.find(FILE, 1).unwrap(), 0);
    cache.insert(FILE, 100, Busy::Reading(1)).unwrap();
    assert!(cache.find(FILE, 2).is_none(), "the coldest that is neither");
    cache.insert(FILE, 101, Busy::No).unwrap();
    cache.set_dirty(cache.find(FILE, 101).unwrap(), Instant(6));
    assert_eq!(cache.insert(FILE, 102, Busy::No), Err(NoRoom));
    assert_eq!((cache.dirty(), cache.writing()), (2, 1));
    cache.write_done(cache.find(FILE, 1).unwrap());
    assert!(cache.insert(FILE, 102, Busy::No).is_ok());
}

#[test]
fn files_are_written_in_the_order_in_which_they_became_dirty() {
    let mut cache = filled(4);
    let other = FileId(3);
    let page = cache.insert(other, 0, Busy::No).unwrap();
    cache.set_dirty(page, Instant(9));
    cache.set_dirty(cache.find(FILE, 3).unwrap(), Instant(10));
    cache.set_dirty(cache.find(FILE, 2).unwrap(), Instant(11));
    assert_eq!(cache.oldest_dirty(), Some((Instant(9), other)));
    cache.redirty(other, Instant(20));
    assert_eq!(cache.oldest_dirty(), Some((Instant(10), FILE)));
    assert_eq!(cache.next_dirty(FILE, 0), Some(2));
    cache.write_begins(cache.find(FILE, 2).unwrap(), 0);
    assert_eq!(cache.next_dirty(FILE, 0), Some(3));
    // Changed again while it is written: not to be written twice at once.
    cache.set_dirty(cache.find(FILE, 2).unwrap(), Instant(12));
    assert_eq!(cache.next_dirty(FILE, 0), Some(3));
    assert_eq!(cache.dirty(), 3);
}

#[test]
fn what_is_forgotten_is_gone_when_it_is_no_longer_busy() {
    let mut cache = filled(4);
    let busy = cache.find(FILE, 1).unwrap();
    cache.set_dirty(cache.find(FILE, 0).unwrap(), Instant(1));
    cache.write_begins(busy, 0);
    cache.forget(FILE, 4);
    assert_eq!((cache.len(), cache.dirty()), (1, 0));
    assert!(cache.find(FILE, 1).is_none());
    cache.write_done(busy);
    assert!(cache.is_empty());
}
