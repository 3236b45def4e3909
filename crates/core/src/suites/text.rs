//! The text format of event sequences: what is written can be read, and nothing panics.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any};
use proptest::{prop_assert, prop_assert_eq, prop_oneof};

use super::scene::runner;
use crate::ops::{self, Described, Error, Event, Line, Problem, Settings, Wanted};
use crate::tunables::TunableError;
use crate::{
    Class, Device, Duration, Group, Issuer, Merging, Operation, Priority, Request, RequestId, Sector,
    Sectors, Weight,
};

fn requests() -> impl Strategy<Value = Request> {
    let operations = [Operation::Read, Operation::Write, Operation::Discard, Operation::Flush];
    let classes = [Class::RealTime, Class::BestEffort, Class::Idle];
    let numbers = (any::<u64>(), any::<u32>(), any::<u32>(), any::<u32>(), 0..4usize, 0..3usize, 0..8u8);
    (numbers, any::<[bool; 4]>()).prop_map(move |(numbers, [sync, metadata, more_follows, past])| {
        let (start, length, issuer, group, operation, class, level) = numbers;
        Request {
            start: Sector(start),
            length: Sectors(length),
            group: Group(group),
            operation: operations[operation],
            priority: Priority { class: classes[class], level },
            sync,
            metadata,
            more_follows,
            past,
            ..Request::default()
        }
        .by(Issuer(issuer))
    })
}

fn events() -> impl Strategy<Value = Event<'static>> {
    let id = || any::<u32>().prop_map(RequestId);
    let Ok(Line::Scheduler(_, settings)) = Line::parse("scheduler x a=1 b=2ms") else { unreachable!() };
    prop_oneof![
        (id(), requests()).prop_map(|(id, request)| Event::Insert { id, request }),
        Just(Event::Dispatch),
        id().prop_map(Event::Complete),
        id().prop_map(Event::Requeue),
        id().prop_map(Event::Cancel),
        any::<u32>().prop_map(|who| Event::Gone(Issuer(who))),
        (any::<u32>(), 1..=10_000u32)
            .prop_map(|(who, weight)| Event::Weigh(Issuer(who), Weight::new(weight).unwrap())),
        Just(Event::Set { tunable: "read_expire", value: "250ms" }),
        Just(Event::Switch { scheduler: "c-look", settings: Settings::default() }),
        Just(Event::Switch { scheduler: "c-look", settings }),
        Just(Event::Begin { scheduler: "c-look", settings }),
        any::<u32>().prop_map(Event::Carry),
    ]
}

#[test]
fn an_event_that_is_written_reads_the_same() {
    let time = prop_oneof![any::<u64>(), (0..5_000u64).prop_map(|ms| ms * 1_000_000), Just(0)];
    runner(2000)
        .run(&(time.prop_map(Duration), events()), |(after, event)| {
            let line = Line::Event(after, event);
            let text = line.to_string();
            prop_assert_eq!(Line::parse(&text), Ok(line), "{}", text);
            let answered = format!("  {text} = 7 # why");
            prop_assert_eq!(Line::parse(&answered), Ok(line));
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_device_that_is_written_reads_the_same() {
    let device = Device {
        depth: 4,
        hardware_queues: 2,
        capacity: Sector(9),
        merging: Merging::LastOnly,
        max_sectors: Sectors(7),
        max_parts: 3,
        ..Device::usual(false)
    };
    for device in [device, Device::default()] {
        let text = Described(&device).to_string();
        let Ok(Line::Device(settings)) = Line::parse(&text) else { panic!("{text}") };
        assert_eq!(format!("{:?}", settings.device().unwrap()), format!("{device:?}"));
    }
}

#[test]
fn any_text_gives_an_error_or_an_answer_but_never_a_panic() {
    const WORDS: [&str; 43] = [
        "scheduler",
        "noop",
        "c-look",
        "device",
        "depth=2",
        "merging=off",
        "queue",
        "4",
        "insert",
        "R",
        "W",
        "8+8",
        "0+0",
        "18446744073709551615+4294967295",
        "dispatch",
        "begin",
        "carry",
        "complete",
        "requeue",
        "cancel",
        "gone",
        "weight",
        "explain",
        "group=2",
        "set",
        "switch",
        "+1ms",
        "+0",
        "+18446744073709551615ns",
        "+99999999999s",
        "0",
        "1",
        "=",
        "#",
        "\n",
        "\n",
        "\n",
        "a=b",
        "prio=be/9",
        "by=-1",
        "curve=0:0,5:1ms",
        "é",
        "seed=1",
    ];
    let words = vec((0..WORDS.len(), any::<char>(), any::<u8>()), 0..60);
    runner(1500)
        .run(&words, |words| {
            let mut text = String::from("scheduler noop\n");
            for (word, letter, kind) in words {
                text.push_str(WORDS[word]);
                text.push(if kind < 8 { letter } else { ' ' });
            }
            let mut out = String::new();
            if ops::run(&text, &mut out).is_ok() {
                let mut again = String::new();
                prop_assert!(ops::run(&out, &mut again).is_ok(), "{}", out);
                prop_assert_eq!(out, again, "written results are read as if they were not there");
            }
            Ok(())
        })
        .unwrap();
}

fn error(text: &str) -> Error {
    ops::run(text, &mut String::new()).unwrap_err()
}

#[test]
fn errors_name_the_line_and_the_remedy() {
    let word = |word: &str, wanted| Problem::Word(word.into(), wanted);
    let cases = [
        ("dispatch", 1, Problem::NoScheduler),
        ("\nscheduler elevator", 2, word("elevator", Wanted::Scheduler)),
        ("scheduler noop x", 1, word("x", Wanted::Setting)),
        ("scheduler noop x=1", 1, Problem::Tunable(TunableError::Unknown(&[]))),
        ("scheduler noop\nset x 1", 2, Problem::Tunable(TunableError::Unknown(&[]))),
        ("scheduler noop\ndispatch\nqueue 5", 3, Problem::TooLate),
        ("scheduler noop\n+3000000000s dispatch", 2, Problem::TooLong),
        ("queue 0", 1, word("0", Wanted::QueueSize)),
        ("queue 65537", 1, word("65537", Wanted::QueueSize)),
        ("device depth=0", 1, word("depth=0", Wanted::DeviceProperty)),
        ("device curve=9:1ms,9:2ms", 1, word("curve=9:1ms,9:2ms", Wanted::DeviceProperty)),
        ("explode", 1, word("explode", Wanted::Verb)),
        (" = idle", 1, word("=", Wanted::Verb)),
        ("+5 dispatch", 1, word("+5", Wanted::Time)),
        ("+1ms", 1, Problem::Missing(Wanted::Verb)),
        ("complete", 1, Problem::Missing(Wanted::Id)),
        ("complete -1", 1, word("-1", Wanted::Id)),
        ("complete 1 2", 1, Problem::Surplus("2".into())),
        ("insert 1 X 0+8", 1, word("X", Wanted::Operation)),
        ("insert 1 R 8", 1, word("8", Wanted::Extent)),
        ("insert 1 R 8+8 prio=be/8", 1, word("prio=be/8", Wanted::Property)),
        ("switch", 1, Problem::Missing(Wanted::Scheduler)),
    ];
    for (text, line, problem) in cases {
        assert_eq!(error(text), Error { line, problem }, "{text}");
    }
    let shown = error("\nscheduler elevator").to_string();
    assert!(shown.starts_with("line 2: `elevator` is not a scheduler, one of noop "), "{shown}");
}
