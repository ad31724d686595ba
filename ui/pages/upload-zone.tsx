import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { Button } from '../components/button.tsx'
import { tell } from '../components/toast.tsx'
import { t } from '../lib/language.ts'
import { addUploads } from '../lib/uploads.ts'

/** Where files are dropped or chosen. */
export function UploadZone({ context, children }: { readonly context: string; readonly children: ComponentChildren }) {
  const input = useRef<HTMLInputElement>(null)
  const [isOver, setOver] = useState(false)
  const add = (files: readonly File[]): void => {
    if (files.length > 0) addUploads(context, files)
  }
  const drop = (event: DragEvent): void => {
    event.preventDefault()
    setOver(false)
    const items = [...(event.dataTransfer?.items ?? [])].filter(({ kind }) => kind === 'file')
    const hasFolder = items.some(item => item.webkitGetAsEntry()?.isDirectory === true)
    if (hasFolder) tell(t('noFolders'))
    const isFile = (item: DataTransferItem): boolean => item.webkitGetAsEntry()?.isDirectory !== true
    add(items.filter(isFile).flatMap(item => item.getAsFile() ?? []))
  }
  return (
    <section
      class={isOver ? 'card zone over' : 'card zone'}
      aria-label={t('addFiles')}
      onDragOver={event => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={event => {
        const { relatedTarget } = event
        if (!(relatedTarget instanceof Node && event.currentTarget.contains(relatedTarget))) setOver(false)
      }}
      onDrop={drop}
    >
      <div class="drop">
        <p>{isOver ? t('dropNow') : t('dropHere')}</p>
        <Button onPress={() => input.current?.click()}>{t('chooseFiles')}</Button>
        <input
          ref={input}
          type="file"
          multiple
          hidden
          onChange={event => {
            add([...(event.currentTarget.files ?? [])])
            // So that choosing the same file again is a change.
            event.currentTarget.value = ''
          }}
        />
      </div>
      {children}
    </section>
  )
}
