//! All schedulers: a folder for each family, a line for each file.
//!
//! | folder | what it holds |
//! |---|---|
//! | `textbook` | orders by arrival, address or positioning time, and a random one |
//! | `linux_2_6` | deadline, anticipatory and CFQ, as Linux 2.6 had them, and OLS'05's CAS |
//! | `blk_mq` | the schedulers of today's Linux |
//! | `proportional_share`, `unc` | the disk shared by weights; AQL and RW-FIFO of the University of North Carolina |
//! | `anticipatory` | SOSP'01's anticipation around schedulers of other folders |
//! | `idlewise`, `shared` | the project's own scheduler; parts that schedulers of several files have in common |

pub(crate) mod shared;

/// Declares the modules, and `registered!`, which hands the list to the registry.
macro_rules! schedulers {
    ($($family:ident $(($($part:ident),+))? {$($module:ident: $($kind:ident),+;)*})*) => {
        $(
            #[doc = concat!("The family `", stringify!($family), "`.")]
            pub mod $family {
                $($(pub(crate) mod $part;)+)?
                $(pub mod $module;)*
            }
        )*

        macro_rules! registered {
            () => { register! { $($($($family/$module: $kind;)+)*)* } };
        }
        pub(crate) use registered;
    };
}

schedulers! {
    textbook {
        noop: Noop;
        random: Random;
        sstf: Sstf;
        scan: Scan;
        c_scan: CScan;
        look: Look;
        c_look: CLook;
        vscan: Vscan;
        fscan: FScan;
        n_step_scan: NStepScan;
        sptf: Sptf;
        aged_sptf: AgedSptf;
    }
    linux_2_6 (as_family) {
        deadline: Deadline;
        deadline_2_6_11: Deadline2611;
        as_: As;
        as_2_6_11: As2611;
        cas: Cas;
        cfq_2_6_9: Cfq269;
        cfq_2_6_12: Cfq2612;
        cfq: Cfq;
    }
    blk_mq {
        mq_deadline: MqDeadline;
        kyber: Kyber;
        bfq: Bfq;
        adios: Adios;
    }
    unc {
        aql: Aql;
        rwfifo: RwFifo;
    }
    proportional_share {
        stride: Stride;
        stride_sptf: StrideSptf;
        lottery: Lottery;
        yfq: Yfq;
    }
    idlewise {
        turns: Turns;
    }
    anticipatory (framework, heuristics, levels, shares, statistics) {
        antic_sptf: AnticSptf;
        antic_aged_sptf: AnticAgedSptf;
        antic_c_look: AnticCLook;
        antic_stride: AnticStride;
        antic_yfq: AnticYfq;
        antic_stride_sptf: AnticStrideSptf;
        antic_adaptive: AnticAdaptive;
    }
}
