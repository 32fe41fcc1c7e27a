/** One value's place in a list. */
export class Link<T> {
  readonly value: T
  before: Link<T> | undefined
  after: Link<T> | undefined

  constructor(value: T) {
    this.value = value
  }
}

/**
 * Values in an order that changes with every request. A `Set` or `Map` that is added to and deleted from at that rate is built
 * anew each few times, and in V8 each of its former tables leads to the next: once one of them has grown old, the young
 * collector keeps all that came after it, and what they held. A link that is taken out leads nowhere.
 */
export class LinkedList<T> {
  #first: Link<T> | undefined
  #last: Link<T> | undefined

  /** At the end. The link is what `remove` and `moveToEnd` want. */
  add(value: T): Link<T> {
    const link = new Link(value)
    this.#append(link)
    return link
  }

  /** The link is in this list; it is not afterwards. */
  remove(link: Link<T>): void {
    const { before, after } = link
    if (before === undefined) this.#first = after
    else before.after = after
    if (after === undefined) this.#last = before
    else after.before = before
    link.before = undefined
    link.after = undefined
  }

  moveToEnd(link: Link<T>): void {
    if (link === this.#last) return
    this.remove(link)
    this.#append(link)
  }

  /** A value may be removed while it is the current one. */
  *[Symbol.iterator](): IterableIterator<T> {
    for (let link = this.#first; link !== undefined; ) {
      const { after } = link
      yield link.value
      link = after
    }
  }

  #append(link: Link<T>): void {
    link.before = this.#last
    if (this.#last === undefined) this.#first = link
    else this.#last.after = link
    this.#last = link
  }
}
