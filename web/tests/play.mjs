// Playing: every step to its end, by button and by key; stepping, scrubbing, speed, the address.
import assert from 'node:assert/strict';

import { done, drawn, ofProgram, report, STEPS } from './helpers.mjs';

async function clock(page) {
  await drawn(page);
  return Number.parseFloat(await page.textContent('#time'));
}

const isPlaying = async (page) => (await page.getAttribute('#play', 'aria-label')) === 'Pause';

/** Waits until the page stands still at its end. */
async function atEnd(page) {
  await page.waitForFunction(() => {
    const [at, end] = document.querySelector('#time').textContent.split(' of ').map(Number.parseFloat);
    return document.querySelector('#play').getAttribute('aria-label') === 'Play' && at >= end - 0.06;
  }, undefined, { timeout: 60_000 });
}

export const play = {
  'every step plays to its end, and ends with the report': async ({ open }) => {
    for (const step of STEPS) {
      const { page, said, close } = await open(`#step=${step}`);
      await done(page);
      assert.ok(await isPlaying(page), `${step} plays by itself`);
      await page.selectOption('#speed', '10');
      await atEnd(page);
      for (const side of ['a', 'b']) {
        const result = await report(page, side);
        const shown = Number.parseFloat(await page.textContent(`#pane-${side} .rate`));
        assert.ok(Math.abs(shown - result.throughput_bytes_per_s / 1e6) <= 0.005 * shown + 0.001, `${step} ${side}: ${shown}`);
        assert.ok((await page.$$(`#pane-${side} .reasons li`)).length > 0, `${step} ${side} has reasons`);
        const words = (await page.textContent(`#pane-${side} .command code`)).split(' ').slice(2);
        assert.deepStrictEqual(result, await ofProgram(words), `${step} ${side}`);
      }
      assert.deepStrictEqual(said, [], step);
      await close();
    }
  },

  'the steps show what they tell': async ({ open }) => {
    const rate = (one) => one.throughput_bytes_per_s;
    const chain = (one) => one.issuers.find((issuer) => issuer.name === 'chain').bytes;
    const largest = (one) => one.issuers.find((issuer) => issuer.weight === 400).service_share;
    const claims = {
      seek: (a, b) => rate(b) > 1.5 * rate(a),
      elevator: (a, b) => a.longest_wait_ns > 1.4 * b.longest_wait_ns && rate(b) > 0.9 * rate(a),
      deceptive: (a, b) => Math.abs(rate(a) / rate(b) - 1) < 0.02 && rate(a) < 10e6,
      anticipation: (a, b) => rate(b) > 4 * rate(a),
      chain: (a, b) => chain(b) > 5 * chain(a),
      shares: (a, b) => largest(b) > 0.5 && largest(a) < 0.4,
      today: (a, b) => Math.abs(rate(a) / rate(b) - 1) < 0.05,
    };
    for (const step of STEPS) {
      const { page, close } = await open(`#step=${step}&t=0.1`);
      await done(page);
      const [a, b] = [await report(page, 'a'), await report(page, 'b')];
      assert.ok(claims[step](a, b), `${step}: ${JSON.stringify([a, b])}`);
      await close();
    }
  },

  'keys, scrubbing and stepping': async ({ open }) => {
    const { page, said, close } = await open('#step=anticipation&t=0.5');
    await done(page);
    assert.ok(!(await isPlaying(page)), 'an address with a time stands still');
    assert.equal(await clock(page), 0.5);
    const decision = async () => {
      await drawn(page);
      return page.textContent('#pane-b .reasons li time');
    };
    const before = await decision();
    await page.focus('#controls');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    const after = await decision();
    assert.notEqual(after, before);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    assert.ok(Number.parseFloat(await decision()) <= Number.parseFloat(before));
    assert.match(await page.textContent('#spoken'), /antic-c-look: .* megabytes a second/);
    assert.doesNotMatch(await page.textContent('#spoken'), /\.\s*\./);
    await page.keyboard.press(' ');
    assert.ok(await isPlaying(page));
    await page.keyboard.press(' ');
    assert.ok(!(await isPlaying(page)));
    await page.keyboard.press('End');
    await atEnd(page);
    await page.keyboard.press('Home');
    assert.equal(await clock(page), 0);
    await page.fill('#scrub', '500');
    assert.ok(Math.abs((await clock(page)) - 1) < 0.1);
    await page.keyboard.press('2');
    await page.waitForFunction(() => document.querySelector('#count').textContent === 'Step 2 of 7');
    assert.deepStrictEqual(said, []);
    await close();
  },

  'an address beyond the end shows the end': async ({ open }) => {
    for (const words of ['t=100', 't=1e20', 't=1e20&speed=1e-20', 't=0.5&speed=1e-20']) {
      const { page, said, close } = await open(`#step=seek&${words}`);
      await done(page);
      await drawn(page);
      const [at, end] = (await page.textContent('#time')).split(' of ');
      assert.equal(at, words.startsWith('t=0.5') ? '0.500 s' : end, words);
      const address = await page.evaluate(() => new URLSearchParams(location.hash.slice(1)).get('t'));
      assert.equal(`${Number(address).toFixed(3)} s`, at, words);
      assert.deepStrictEqual(said, []);
      await close();
    }
  },

  'another scheduler leaves the page where it is, and the step’s text goes': async ({ open }) => {
    const { page, close } = await open('#step=seek&t=0.1', { height: 500 });
    await done(page);
    await page.locator('#pane-a .reasons').scrollIntoViewIfNeeded();
    const before = await page.evaluate(() => scrollY);
    assert.ok(before > 100, `${before}`);
    await page.evaluate(() => delete document.body.dataset.state);
    await page.evaluate(() => {
      const select = document.querySelector('#pane-a .scheduler');
      select.value = 'deadline';
      select.dispatchEvent(new Event('change'));
    });
    await done(page);
    await drawn(page);
    assert.ok((await page.evaluate(() => scrollY)) > 100);
    assert.equal(await page.textContent('#count'), 'Your own schedulers');
    assert.doesNotMatch(await page.textContent('#look'), /noop/);
    await close();
  },

  'keys are the player’s only while it has the focus': async ({ open }) => {
    const { page, close } = await open('#step=anticipation&t=0.5');
    await done(page);
    for (const key of ['2', '+', ' ', 'End', 'Home', 'ArrowRight']) await page.keyboard.press(key);
    assert.equal(await clock(page), 0.5);
    assert.ok(!(await isPlaying(page)));
    assert.equal(await page.textContent('#count'), 'Step 4 of 7');
    assert.equal(await page.inputValue('#speed'), '0.02');
    await page.evaluate(() => scrollTo({ top: 0, behavior: 'instant' }));
    // A scroll that Home began may still take the page back to its top.
    let scrolled = 0;
    for (let tries = 0; tries < 50 && scrolled <= 100; tries++) {
      await page.keyboard.press(' ');
      await page.waitForTimeout(100);
      scrolled = await page.evaluate(() => scrollY);
    }
    assert.ok(scrolled > 100, `${scrolled}`);
    await close();
  },

  'another address counts, whatever is pressed before the page hears of it': async ({ open }) => {
    const { page, said, close } = await open('#step=seek&t=0.1');
    await done(page);
    await page.evaluate(() => {
      location.hash = '#step=shares&t=0.1';
      // Play and pause: the page would say in its address where it stands.
      document.querySelector('#play').click();
      document.querySelector('#play').click();
    });
    await page.waitForSelector('#tabs [data-story=shares][aria-current]', { timeout: 5000 });
    assert.match(await page.evaluate(() => location.hash), /step=shares/);
    assert.deepStrictEqual(said, []);
    await close();
  },

  'settings and the address': async ({ open }) => {
    const { page, said, close } = await open('#step=anticipation&t=0.5');
    await done(page);
    const first = await report(page, 'b');
    await page.evaluate(() => document.querySelectorAll('.settings').forEach((one) => (one.open = true)));
    const slider = page.locator('#pane-b .tunable input[type=range]').first();
    await page.evaluate(() => delete document.body.dataset.state);
    await slider.focus();
    await page.keyboard.press('Home');
    await done(page);
    assert.notDeepStrictEqual(await report(page, 'b'), first);
    assert.match(await page.evaluate(() => decodeURIComponent(location.hash)), /b=antic-c-look:\w+=/);
    const changed = await report(page, 'b');
    await page.reload();
    await done(page);
    assert.equal(await clock(page), 0.5);
    assert.deepStrictEqual(await report(page, 'b'), changed);
    await page.evaluate(() => document.querySelectorAll('.settings').forEach((one) => (one.open = true)));
    await page.evaluate(() => delete document.body.dataset.state);
    await page.click('#pane-b .reset');
    await done(page);
    assert.deepStrictEqual(await report(page, 'b'), first);
    assert.deepStrictEqual(said, []);
    await close();
  },

  'two times five hundred requests are drawn': async ({ open }) => {
    const { page, said, close } = await open('#step=seek&load=workload%3Arandom%3An%3D500%2Cthink%3D0ms&a=noop&b=c-look&for=4s');
    await done(page);
    const { frames, seconds } = await page.evaluate(async () => {
      const from = performance.now();
      let frames = 0;
      while (performance.now() - from < 2000) {
        await new Promise(requestAnimationFrame);
        frames++;
      }
      return { frames, seconds: (performance.now() - from) / 1000 };
    });
    assert.match(await page.textContent('#pane-a .now'), /^499 waiting/);
    assert.deepStrictEqual(said, []);
    await close();
    // How many frames that are depends on the machine; there is no limit here that a busy one could break.
    return `${(frames / seconds).toFixed(0)} frames a second`;
  },
};
