"""fuelbridge's guard: the platform's id of an invoice is unique in the books."""
from trytond.pool import Pool

from . import invoice


def register():
    Pool.register(
        invoice.Invoice,
        module='fuelbridge_guard', type_='model')
