// The seven steps of the story: a load, a disk, two schedulers, and what to look at.

import type { Load } from './wanted';

export interface Story {
  id: string;
  /** What the tab says. */
  tab: string;
  title: string;
  text: string;
  /** What to look at. */
  look: string[];
  a: string;
  b: string;
  disk: string;
  load: Load;
  duration: string;
  /** Simulated time that passes in a second. */
  speed: number;
  /** What the sentence above both compares, if not all data. */
  compare?: { process: number; name: string } | 'waits' | 'shares';
}

/** A disk of 2002: one command at a time, so that the scheduler alone decides. */
const OLD_DISK = 'maxtor-40g';

const READERS: Load = { workload: 'random:n=32,think=0ms,requests=1000' };
const STREAMS: Load = { workload: 'sync-streams:n=2,think=1ms' };

export const STORIES: Story[] = [
  {
    id: 'seek',
    tab: 'What a seek costs',
    title: 'A disk spends its time getting there',
    text:
      'Thirty-two programs each want a small block from somewhere on the disk. Reading it takes a tenth of a ' +
      'millisecond. Moving the arm and waiting for the platter to turn takes a hundred times as long.',
    look: [
      'Under noop requests are served in the order in which they came: the arm crosses the disk for each.',
      'Under sstf the nearest request is next. The arm makes short moves, and the same disk does more work.',
      'In the strip below the disk, grey is time lost to moving and turning. Colour is data, and hardly any.',
    ],
    a: 'noop',
    b: 'sstf',
    disk: OLD_DISK,
    load: READERS,
    duration: '4s',
    speed: 0.02,
  },
  {
    id: 'elevator',
    tab: 'The elevator',
    title: 'The nearest first forgets the edges',
    text:
      'Always taking the nearest request is greedy: the arm lingers where requests are dense, and one at the edge waits ' +
      'and waits. An elevator goes one way across the disk and takes everybody on its way.',
    look: [
      'The chart shows who waits: left is the outer edge, right the inner, and a dot rises as its wait grows.',
      'Under sstf dots far from the arm climb. Under c-look nobody waits longer than a sweep or two.',
      'Compare the longest waits. The throughput is nearly the same.',
    ],
    a: 'sstf',
    b: 'c-look',
    disk: OLD_DISK,
    load: READERS,
    duration: '8s',
    speed: 0.1,
    compare: 'waits',
  },
  {
    id: 'deceptive',
    tab: 'Deceptive idleness',
    title: 'Two files, and the arm runs between them',
    text:
      'Two programs each read a file from front to back. After every block a program thinks for a millisecond before it ' +
      'asks for the next, and in that moment it seems to want nothing. So the disk goes to the other file, and back.',
    look: [
      'The colours in the strip alternate, and the grey between them is the arm on its way.',
      'Both schedulers do the same. There is only ever one request to choose, so no order can help.',
      'The disk could read 40 MB in a second. Look at what it reads.',
    ],
    a: 'deadline',
    b: 'c-look',
    disk: OLD_DISK,
    load: STREAMS,
    duration: '2s',
    speed: 0.02,
  },
  {
    id: 'anticipation',
    tab: 'Anticipation',
    title: 'Doing nothing, for a moment, is faster',
    text:
      'The same two programs. The anticipatory scheduler lets the disk idle when it expects the same program to ask ' +
      'for the next block at once. Most of the time it is right, and a millisecond of waiting saves ten of seeking.',
    look: [
      'Hatched gaps in the strip of antic-c-look: the disk waits on purpose, with the other request at hand.',
      'The reasons say for which program it waits, for how long, and what made it worth it.',
      'Throughput grows several times over. The other program waits longer for its turn.',
    ],
    a: 'c-look',
    b: 'antic-c-look',
    disk: OLD_DISK,
    load: STREAMS,
    duration: '2s',
    speed: 0.02,
  },
  {
    id: 'chain',
    tab: 'The starved chain',
    title: 'When waiting for one starves the other',
    text:
      'One program reads a large file without end. Beside it a chain of short programs, each of which reads one small file ' +
      'and exits. Linux 2.6.11 remembers each program by itself, so it never learns that another link always follows.',
    look: [
      'Under as-2.6.11 the stream has the disk nearly all the time; the chain gets a request in now and then.',
      'cas knows that such programs come one after the other, and waits for the next.',
      'Compare what the chain got, in the bars below the strips.',
    ],
    a: 'as-2.6.11',
    b: 'cas',
    disk: OLD_DISK,
    load: { workload: 'stream-and-chain:files=400,directories=20' },
    duration: '4s',
    speed: 0.1,
    compare: { process: 2, name: 'the chain' },
  },
  {
    id: 'shares',
    tab: 'Shares',
    title: 'A larger weight, a larger share',
    text:
      'Three programs read a file each, with weights of 100, 200 and 400. An elevator knows nothing of weights. A scheduler ' +
      'that shares the disk by weight gives the third program four times the first one’s time.',
    look: [
      'The bars show the disk time of each program. The mark is the share that its weight asks for.',
      'Under antic-stride the coloured runs in the strip have different lengths.',
      'Sharing needs anticipation: whoever is not waited for cannot use a larger share.',
    ],
    a: 'c-look',
    b: 'antic-stride',
    disk: OLD_DISK,
    load: { workload: 'sync-streams:n=3,think=1ms,weights=100:200:400' },
    duration: '3s',
    speed: 0.1,
    compare: 'shares',
  },
  {
    id: 'today',
    tab: 'Today’s drives',
    title: 'The drive has a queue of its own',
    text:
      'A drive of 2020 takes thirty-two commands at once and puts them in an order of its own. It knows where its head is; ' +
      'the scheduler can only guess. For requests that are all in the drive the scheduler decides nothing.',
    look: [
      'Rings are requests inside the drive. All of them are there: whatever order they came in, the drive sorts them.',
      'The elevator, so much better than noop on the old disk, gains nothing here.',
      'What is left for a scheduler: who gets in, who has to wait, and who starves.',
    ],
    a: 'noop',
    b: 'c-look',
    disk: 'hdd-18tb-7200',
    load: READERS,
    duration: '4s',
    speed: 0.05,
  },
];

/** The step called `id`, or the first. */
export function story(id: string | null): Story {
  return STORIES.find((one) => one.id === id) ?? STORIES[0];
}
