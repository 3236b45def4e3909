// Columns of numbers that grow, and searching in them.

type Numbers = Float64Array<ArrayBuffer>;

/** A column of numbers. */
export class Column {
  length = 0;
  private room: Numbers = new Float64Array(1024);

  push(value: number): void {
    if (this.length === this.room.length) {
      const larger = new Float64Array(this.room.length * 2);
      larger.set(this.room);
      this.room = larger;
    }
    this.room[this.length++] = value;
  }

  get(place: number): number {
    return this.room[place];
  }

  set(place: number, value: number): void {
    this.room[place] = value;
  }

  /** The last number, or `otherwise` if there is none. */
  last(otherwise: number): number {
    return this.length ? this.room[this.length - 1] : otherwise;
  }

  /** How many of the ascending numbers are at most `value`. */
  upTo(value: number): number {
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.room[middle] <= value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
