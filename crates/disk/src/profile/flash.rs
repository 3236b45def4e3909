//! Profiles of flash devices and of fixed-latency devices: the TOML keys and their compilation.

use super::error::Fault;
use super::number::{count, ns, rate, share};
use crate::{FixedSpec, FlashSpec};
use serde::Deserialize;
use std::format;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Flash {
    capacity_sectors: u64,
    queue_depth: u32,
    overhead_us: f64,
    /// Of the cable, in 10^6 bytes a second.
    interface_mb_per_s: f64,
    flash: FlashKeys,
    buffer: BufferKeys,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct FlashKeys {
    channels: u32,
    dies_per_channel: u32,
    channel_mb_per_s: f64,
    page_sectors: u32,
    block_pages: u32,
    mapping_sectors: u32,
    read_us: f64,
    program_us: f64,
    erase_us: f64,
    over_provision_share: f64,
    written_share: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BufferKeys {
    sectors: u32,
    power_loss_protection: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fixed {
    capacity_sectors: u64,
    queue_depth: u32,
    latency_us: f64,
    #[serde(default)]
    sector_us: f64,
}

fn capacity(sectors: u64) -> Result<u64, Fault> {
    if sectors == 0 || sectors > 1 << 50 {
        return Err(Fault::new(
            "capacity_sectors",
            format!("{sectors} is out of range; give 1 to {}", 1u64 << 50),
        ));
    }
    Ok(sectors)
}

impl Flash {
    /// Compiles the profile into integers.
    pub(super) fn compile(&self) -> Result<FlashSpec, Fault> {
        let flash = &self.flash;
        let time = |key: &str, us: f64| ns(key, us, 1e3).map(u64::from);
        Ok(FlashSpec {
            capacity: capacity(self.capacity_sectors)?,
            channels: count("flash.channels", flash.channels)?,
            dies_per_channel: count("flash.dies_per_channel", flash.dies_per_channel)?,
            page_sectors: count("flash.page_sectors", flash.page_sectors)?,
            block_pages: count("flash.block_pages", flash.block_pages)?,
            mapping_sectors: count("flash.mapping_sectors", flash.mapping_sectors)?,
            read_ns: time("flash.read_us", flash.read_us)?,
            program_ns: time("flash.program_us", flash.program_us)?,
            erase_ns: time("flash.erase_us", flash.erase_us)?,
            channel_sector_ns: rate("flash.channel_mb_per_s", flash.channel_mb_per_s)?,
            interface_sector_ns: rate("interface_mb_per_s", self.interface_mb_per_s)?,
            overhead_ns: time("overhead_us", self.overhead_us)?,
            buffer_sectors: self.buffer.sectors,
            power_loss_protection: self.buffer.power_loss_protection,
            over_provision: share("flash.over_provision_share", flash.over_provision_share)?,
            written: share("flash.written_share", flash.written_share)?,
            depth: count("queue_depth", self.queue_depth)?,
        })
    }
}

impl Fixed {
    /// Compiles the profile into integers.
    pub(super) fn compile(&self) -> Result<FixedSpec, Fault> {
        Ok(FixedSpec {
            capacity: capacity(self.capacity_sectors)?,
            latency_ns: u64::from(ns("latency_us", self.latency_us, 1e3)?),
            sector_ns: u64::from(ns("sector_us", self.sector_us, 1e3)?),
            depth: count("queue_depth", self.queue_depth)?,
        })
    }
}
