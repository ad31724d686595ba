import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'
import { Problem, type Tagged } from '../lib/api.ts'
import { t } from '../lib/language.ts'
import { useLoaded } from '../lib/load.ts'
import { visible } from '../lib/text.ts'
import { Button } from './button.tsx'
import { Form } from './form.tsx'
import { Await } from './page.tsx'

type Texts = Readonly<Record<string, string>>

interface SharedFormProps<State, Fields extends Texts> {
  /** Loads what the form edits, with its ETag if it has one. */
  readonly load: () => Promise<Tagged<State>>
  /** Values whose change loads it again. */
  readonly inputs: readonly unknown[]
  readonly fieldsOf: (state: State) => Fields
  readonly labelOf: (field: keyof Fields & string) => string
  /** Writes the changed fields into `state` and sends it. Without an ETag, what is stored is compared before. */
  readonly save: (state: State, changed: Partial<Fields>, tag: string | undefined) => Promise<unknown>
  readonly onSaved: (fields: Fields, before: Fields) => void
  /** Shown below the form from the moment that it is there, so that the form moves nothing. */
  readonly after?: ComponentChildren
  readonly children: (form: {
    readonly fields: Fields
    readonly set: (changed: Partial<Fields>) => void
    readonly problem: unknown
    /** As it was when the form opened, or was last saved. */
    readonly state: State
  }) => ComponentChildren
}

/**
 * A form for something that other people may change meanwhile. Only fields that the person changed are written. If somebody else has
 * changed one of them since the form opened, the person chooses.
 */
export function SharedForm<State, Fields extends Texts>(props: SharedFormProps<State, Fields>) {
  const [loaded, again] = useLoaded(props.load, props.inputs)
  return (
    <Await loaded={loaded} again={again}>
      {first => (
        <>
          <Editor {...props} first={first} />
          {props.after}
        </>
      )}
    </Await>
  )
}

function Editor<State, Fields extends Texts>(
  props: SharedFormProps<State, Fields> & { readonly first: Tagged<State> },
) {
  const { first, load, fieldsOf, labelOf, save, onSaved, children } = props
  const [opened, setOpened] = useState(first)
  const [typed, setTyped] = useState<Partial<Fields>>({})
  const [theirs, setTheirs] = useState<Tagged<State>>()
  // What was loaded again replaces what is shown, unless the person has begun to type.
  useLayoutEffect(() => {
    if (Object.keys(typed).length === 0) setOpened(first)
  }, [first])
  const fields: Fields = { ...fieldsOf(opened.value), ...typed }

  /** The fields that the person and somebody else have changed differently. */
  const clashes = (latest: Tagged<State>): ReadonlyArray<keyof Fields & string> => {
    const [before, after] = [fieldsOf(opened.value), fieldsOf(latest.value)]
    return Object.keys(typed).filter(field => after[field] !== before[field] && after[field] !== typed[field])
  }
  const changesTo = (state: State): Partial<Fields> => {
    const stored: Texts = fieldsOf(state)
    return Object.fromEntries(
      Object.entries(typed).filter(([field, text]) => stored[field] !== text),
    ) as Partial<Fields>
  }
  const mergeInto = async (latest: Tagged<State>): Promise<void> => {
    if (clashes(latest).length > 0) setTheirs(latest)
    else await send(latest)
  }
  const send = async (base: Tagged<State>): Promise<void> => {
    try {
      await save(base.value, changesTo(base.value), base.tag)
    } catch (error) {
      if (!(error instanceof Problem && error.status === 412)) throw error
      return await mergeInto(await load())
    }
    onSaved(fields, fieldsOf(base.value))
    // A form that stays open goes on from what is stored now. If that cannot be loaded, its old ETag still protects it.
    const latest = await load().catch(() => base)
    setOpened(latest)
    setTyped({})
  }
  const submit = async (): Promise<void> => {
    if (opened.tag === undefined) await mergeInto(await load())
    else await send(opened)
  }
  const keepMine = async (latest: Tagged<State>): Promise<void> => {
    setOpened(latest)
    setTheirs(undefined)
    await send(latest)
  }
  const takeTheirs = (latest: Tagged<State>): void => {
    const lost = clashes(latest)
    setTyped(Object.fromEntries(Object.entries(typed).filter(([field]) => !lost.includes(field))) as Partial<Fields>)
    setOpened(latest)
    setTheirs(undefined)
  }
  return (
    <Form work={() => (theirs ? keepMine(theirs) : submit())}>
      {problem =>
        theirs ? (
          <Clash
            entries={clashes(theirs).map(field => [labelOf(field), fieldsOf(theirs.value)[field] ?? ''])}
            onTake={() => takeTheirs(theirs)}
          />
        ) : (
          children({ fields, set: changed => setTyped({ ...typed, ...changed }), problem, state: opened.value })
        )
      }
    </Form>
  )
}

interface ClashProps {
  readonly entries: ReadonlyArray<readonly [label: string, text: string]>
  readonly onTake: () => void
}

/** What somebody else has saved since the form opened, and the choice between the two. */
const Clash = ({ entries, onTake }: ClashProps) => (
  <>
    <p class="notice warn" role="alert">
      {t('savedMeanwhile')}
    </p>
    <dl class="facts">
      {entries.map(([label, text]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{text === '' ? <span class="muted">–</span> : visible(text)}</dd>
        </div>
      ))}
    </dl>
    <div class="buttons">
      <Button kind="quiet" onPress={onTake}>
        {t('takeTheirs')}
      </Button>
      <Button type="submit">{t('keepMine')}</Button>
    </div>
  </>
)
