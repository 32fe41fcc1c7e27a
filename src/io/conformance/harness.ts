/** A world to try an implementation in. */
export interface Harness<Subject> {
  readonly subject: Subject
  /** Carries the body out; in a simulated world, moves time on until it has ended. */
  run(body: () => Promise<void>): Promise<void>
  dispose(): Promise<void>
}

export type MakeHarness<Subject> = () => Harness<Subject> | Promise<Harness<Subject>>

/** A test body that gets a new harness and leaves nothing of it behind. */
export function inHarness<Subject>(make: MakeHarness<Subject>, body: (subject: Subject) => Promise<void>) {
  return async (): Promise<void> => {
    const harness = await make()
    try {
      await harness.run(() => body(harness.subject))
    } finally {
      await harness.dispose()
    }
  }
}

/** Tells whether the turn in which this was called, with its microtasks, is over. */
export function watchTurn(): { isOver(): boolean } {
  let isOver = false
  let microtasks = 20
  const count = () => {
    if (microtasks-- > 0) queueMicrotask(count)
    else isOver = true
  }
  count()
  return { isOver: () => isOver }
}
